#!/usr/bin/env bash
# rustc.sh: what cargo calls in place of rustc (RUSTC_WRAPPER) when it builds what is shipped: the same
# compiler, told to write down where sources lie in the kit and not on this machine. So the same sources
# make the same bytes in whatever folder and for whomever.
#
# It is no RUSTFLAGS, because cargo names what a build script makes by a sum over those, and the folder's
# name would be in there again.
set -euo pipefail
kit=$(cd "$(dirname "$0")/.." && pwd -P)
exec "$@" --remap-path-prefix="$kit=/vitrine" \
    --remap-path-prefix="${CARGO_HOME:-$HOME/.cargo}/registry/src=/crates"
