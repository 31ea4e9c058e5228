#!/usr/bin/env bash
# rustc_with_lints.sh RUSTC ARGUMENTS: cargo calls it for the crates of the workspace (switch/.cargo). It
# compiles with clippy, which is rustc with more lints, so that the workspace is compiled once for lints,
# programs and tests. Rust from a distribution may lack clippy; then rustc compiles.
set -euo pipefail

clippy=${1%rustc}clippy-driver
if [ "${VITRINE_LINTS:-yes}" = yes ] && command -v "$clippy" >/dev/null; then
    exec "$clippy" "$@"
fi
exec "$@"
