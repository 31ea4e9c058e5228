#!/usr/bin/env bash
# page.sh: makes out/vitrine.html, the page that is one file. In it are the compiler and the virtual
# world as WebAssembly, the scenarios of labs/scenarios, and the glass. Where this Rust cannot build for
# web pages it says so and fails.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
vm/wasm.sh || fail "the page needs Rust's target for web pages: install Rust with rustup (https://rustup.rs), or use a machine that has it. The file that comes out runs anywhere."
. vm/rust.sh

target=wasm32-unknown-unknown
built=switch/target/$target/page/page.wasm
mkdir -p build/page out
[ -e "$built" ] || step "Building compiler and network for a web page (once, a few minutes)"
# Of a stack that overflows nothing is left to say why, so it is as large as a thread's elsewhere; and a
# page gets so much memory and no more.
(cd switch && cargo rustc --quiet --locked --profile page --target "$target" -p vitrine-page \
    --lib --crate-type cdylib -- \
    -C link-arg=-zstack-size=8388608 -C link-arg=--max-memory=1073741824) ||
    fail "the page's module does not build: the compiler's message above says where."
build/venv/bin/python -m labs.scenarios build/page/scenarios.json
build/venv/bin/python -m labs.glass.alone "$built" build/page/scenarios.json out/vitrine.html
