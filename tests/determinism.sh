#!/usr/bin/env bash
# determinism.sh [SEEDS]: a run of the virtual world tells the same whatever it was compiled for.
# Compares hashes of everything told: unoptimised with overflow checks, optimised, and wasm32.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh
seeds=${1:-100}
target=wasm32-wasip1
cd switch
build() { cargo build --quiet --locked -p vitrine-world --example digest "$@"; }
build
build --profile dev-live
target/debug/examples/digest "$seeds" > target/digest.debug
target/dev-live/examples/digest "$seeds" > target/digest.optimised
diff target/digest.debug target/digest.optimised
echo "$seeds runs tell the same with and without optimisation"
command -v node > /dev/null || { echo "left out: wasm32 wants node"; exit 0; }
build --profile dev-live --target "$target" 2> target/digest.log || {
    grep -q "target may not be installed" target/digest.log || { cat target/digest.log; exit 1; }
    echo "left out: \`rustup target add $target\` gets what wasm32 wants"
    exit 0
}
node --no-warnings ../tests/run_wasi.mjs "target/$target/dev-live/examples/digest.wasm" "$seeds" \
    > target/digest.wasm32
diff target/digest.debug target/digest.wasm32
echo "$seeds runs tell the same on $(uname -m) and wasm32"
