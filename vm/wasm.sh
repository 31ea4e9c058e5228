#!/usr/bin/env bash
# Makes a target of Rust for web pages available: `vm/wasm.sh [TARGET]` succeeds when crates can be built for it, and
# says in one sentence why not when they cannot. rustup adds it; a distribution's Rust comes without.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh

target=${1:-wasm32-unknown-unknown}
there() {
    [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]
}

if there; then exit 0; fi
if ! command -v rustup >/dev/null; then
    step "Nothing is built for web pages ($target) here: this Rust did not come from rustup, which adds that target."
    exit 1
fi
step "Adding a target of Rust for web pages, $target"
quietly build/log/wasm.log rustup target add "$target" && there || {
    step "Nothing is built for web pages ($target) here: rustup could not add that target (see build/log/wasm.log). Run 'rustup target add $target' when the network is there."
    exit 1
}
