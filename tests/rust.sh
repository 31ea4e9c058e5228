#!/usr/bin/env bash
# All Rust tests; and, where the target can be had, the core crates built for wasm32, as out/vitrine.html.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh

step "Rust tests"
(cd switch && cargo test --quiet --locked --workspace --no-fail-fast)

# The portable core runs in a web page: the page that is one file is made of it, and its tests want it.
if vm/wasm.sh; then
    step "The page that is one file"
    vm/page.sh
    # The crates of the core that the page has no use for.
    (cd switch && cargo check --quiet --locked --target wasm32-unknown-unknown \
        --package vitrine-queueing --package vitrine-thrift --package vitrine-bmruntime)
fi
