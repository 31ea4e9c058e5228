#!/usr/bin/env bash
# rust.sh [CRATE...]: all Rust tests, or those of some crates, as `tests/rust.sh device traffic`.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh

step "Rust tests${*:+ of $*}"
packages=()
for crate in "$@"; do packages+=(--package "vitrine-$crate"); done
cd switch && cargo test --quiet --locked --no-fail-fast "${packages[@]}"
