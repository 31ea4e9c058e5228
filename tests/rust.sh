#!/usr/bin/env bash
# All Rust tests; and, where the target can be had, the core crates built for wasm32.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh

step "Rust tests"
(cd switch && cargo test --quiet --locked --workspace)

# The portable core: the same router will run in a web page.
core=(units chance bits wire frames bmv2 p4info syntax compiler tables pipeline traffic device hosts queueing world messages p4runtime agent stage)
if vm/wasm.sh; then
    step "Core crates for wasm32"
    (cd switch && cargo check --quiet --locked --target wasm32-unknown-unknown "${core[@]/#/--package=vitrine-}")
fi
