#!/usr/bin/env bash
# page.sh [light]: makes out/vitrine.html, the one-file page: the compiler and the virtual world as
# WebAssembly, the scenarios of labs/scenarios, and the glass. The module of a release serves while the
# switch's sources are those it was made from; else Rust builds it, where it can build for web pages.
# With `light` it makes only the module, build/page/page.wasm, quickly and for the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

target=wasm32-unknown-unknown
profile=page
[ "${1:-}" != light ] || profile=page-light
built=switch/target/$target/$profile/page.wasm
prebuilt=${VITRINE_PREBUILT:-/opt/vitrine}
module=build/page/page.wasm
mkdir -p build/page out
if [ -r "$prebuilt/page.wasm" ] && vm/prebuilt.sh; then
    step "The page's module is the one in $prebuilt, which was made from these sources."
    cp "$prebuilt/page.wasm" "$module"
elif vm/wasm.sh; then
    . vm/rust.sh
    [ -e "$built" ] || step "Building compiler and network for a web page (once, a few minutes)"
    # Of a stack that overflows nothing is left to say why, so it is as large as a thread's elsewhere; and a
    # page gets so much memory and no more.
    (cd switch && RUSTC_WRAPPER=${RUSTC_WRAPPER:-$PWD/../vm/rustc.sh} VITRINE_LINTS=no cargo rustc --quiet --locked --profile "$profile" --target "$target" -p vitrine-page \
        --lib --crate-type cdylib -- \
        -C link-arg=-zstack-size=8388608 -C link-arg=--max-memory=1073741824) ||
        fail "the page's module does not build: the compiler's message above says where."
    cp "$built" "$module"
else
    fail "out/vitrine.html was not made: install Rust with rustup (https://rustup.rs), or unpack the release of these sources and name its folder with VITRINE_PREBUILT. Each release has the page as a file, too."
fi
[ "$profile" = page ] || exit 0
build/venv/bin/python -m labs.scenarios build/page/scenarios.json
build/venv/bin/python -m labs.glass.alone "$module" build/page/scenarios.json out/vitrine.html
