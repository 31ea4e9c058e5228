#!/usr/bin/env bash
# page.sh [light|exercises|exercises-light]: makes out/vitrine.html, the one-file page: compiler and virtual world as
# WebAssembly, the scenarios of labs/scenarios, and the glass. The module of a release serves while the
# switch's sources are those it was made from; else Rust builds it, where it can build for web pages.
# With `light` it makes only the module, build/page/page.wasm, quickly and for the tests. With `exercises` it
# makes what `vitrine handout --page` packs: that module, vitrine-p4c and vitrine-sim as programs.wasm, and Python;
# with `exercises-light` quickly and for the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

what=${1:-}
profile=page
[[ $what != *light ]] || profile=page-light
prebuilt=${VITRINE_PREBUILT:-/opt/vitrine}
mkdir -p build/page out

# build_module TARGET FILE MINUTES STACK CARGO-ARGUMENT...: leaves the module in build/page; FILE is cargo's name.
# A stack overflow in a page leaves no message, so the stack is as large as a thread's elsewhere. The memory of
# a page is limited to 1 GiB.
build_module() {
    local target=$1 file=$2 minutes=$3 stack=$4 built=switch/target/$1/$profile/$2
    shift 4
    . vm/rust.sh
    [ -e "$built" ] || step "Building ${file%.wasm} for web pages (about $minutes minutes, once)"
    (cd switch && RUSTC_WRAPPER=${RUSTC_WRAPPER:-$PWD/../vm/rustc.sh} VITRINE_LINTS=no cargo rustc --quiet --locked --profile "$profile" --target "$target" "$@" -- \
        -C link-arg=-zstack-size="$stack" -C link-arg=--max-memory=1073741824) ||
        fail "$file does not build for web pages: the compiler's message above says where."
}

if [ -r "$prebuilt/page.wasm" ] && vm/prebuilt.sh; then
    step "The page's module is the one in $prebuilt, which was made from these sources."
    cp "$prebuilt/page.wasm" build/page/page.wasm
elif vm/wasm.sh; then
    build_module wasm32-unknown-unknown page.wasm 5 8388608 -p vitrine-page --lib --crate-type cdylib
    cp "switch/target/wasm32-unknown-unknown/$profile/page.wasm" build/page/page.wasm
else
    fail "out/vitrine.html was not made: install Rust with rustup (https://rustup.rs), or unpack the release of these sources and name its folder with VITRINE_PREBUILT. Each release has the page as a file, too."
fi

case $what in
light) exit 0 ;;
exercises | exercises-light)
    vm/wasm.sh wasm32-wasip1 ||
        fail "pages of exercises need Rust from rustup (https://rustup.rs), which builds vitrine-p4c and vitrine-sim for them."
    build_module wasm32-wasip1 vitrine.wasm 5 16777216 -p vitrine --bin vitrine
    cp "switch/target/wasm32-wasip1/$profile/vitrine.wasm" build/page/programs.wasm
    vm/pyodide.sh
    exit 0
    ;;
esac
build/venv/bin/python -m labs.scenarios build/page/scenarios.json
build/venv/bin/python -m labs.glass.alone build/page/page.wasm build/page/scenarios.json out/vitrine.html
