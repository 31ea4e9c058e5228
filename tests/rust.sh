#!/usr/bin/env bash
# All Rust tests; and, where the target is installed, the core crates built for wasm32.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh

step "Rust tests"
(cd switch && cargo test --quiet --locked --workspace)

# The portable core: the same router will run in a web page.
core=(units bits bmv2 p4info compiler pipeline traffic device world)
wasm=wasm32-unknown-unknown
if [ -d "$(rustc --print sysroot)/lib/rustlib/$wasm" ]; then
    step "Core crates for $wasm"
    (cd switch && cargo check --quiet --locked --target "$wasm" "${core[@]/#/--package=vitrine-}")
else
    step "Not checked: core crates for $wasm (rustup target add $wasm installs that target)"
fi
