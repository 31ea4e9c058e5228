#!/usr/bin/env bash
# page.sh [light|exercises]: makes out/vitrine.html, the one-file page: the compiler and the virtual world as
# WebAssembly, the scenarios of labs/scenarios, and the glass. The module of a release serves while the
# switch's sources are those it was made from; else Rust builds it, where it can build for web pages.
# With `light` it makes only the modules in build/page, quickly and for the tests. With `exercises` it makes
# what `vitrine handout --page` packs: the modules, and Python.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

what=${1:-}
profile=page
[ "$what" != light ] || profile=page-light
prebuilt=${VITRINE_PREBUILT:-/opt/vitrine}
mkdir -p build/page out

# build_module TARGET FILE STACK CARGO-ARGUMENT...: leaves it in build/page; FILE is what cargo calls it.
# Of a stack that overflows nothing is left to say why, so it is as large as a thread's elsewhere; and a page
# gets so much memory and no more.
build_module() {
    local target=$1 file=$2 stack=$3 built=switch/target/$1/$profile/$2
    shift 3
    . vm/rust.sh
    [ -e "$built" ] || step "Building ${file%.wasm} for a web page (once, a few minutes)"
    (cd switch && RUSTC_WRAPPER=${RUSTC_WRAPPER:-$PWD/../vm/rustc.sh} VITRINE_LINTS=no cargo rustc --quiet --locked --profile "$profile" --target "$target" "$@" -- \
        -C link-arg=-zstack-size="$stack" -C link-arg=--max-memory=1073741824) ||
        fail "the page's module does not build: the compiler's message above says where."
}

if [ -r "$prebuilt/page.wasm" ] && vm/prebuilt.sh; then
    step "The page's module is the one in $prebuilt, which was made from these sources."
    cp "$prebuilt/page.wasm" build/page/page.wasm
elif vm/wasm.sh; then
    build_module wasm32-unknown-unknown page.wasm 8388608 -p vitrine-page --lib --crate-type cdylib
    cp "switch/target/wasm32-unknown-unknown/$profile/page.wasm" build/page/page.wasm
else
    fail "out/vitrine.html was not made: install Rust with rustup (https://rustup.rs), or unpack the release of these sources and name its folder with VITRINE_PREBUILT. Each release has the page as a file, too."
fi

# Exercises in a page need the programs themselves; the one-file page does without them.
if [ -n "$what" ] && vm/wasm.sh wasm32-wasip1; then
    build_module wasm32-wasip1 vitrine.wasm 16777216 -p vitrine --bin vitrine
    cp "switch/target/wasm32-wasip1/$profile/vitrine.wasm" build/page/programs.wasm
elif [ "$what" = exercises ]; then
    fail "pages of exercises need Rust from rustup (https://rustup.rs), which builds vitrine-p4c and vitrine-sim for them."
fi
case $what in
light)
    # Tests of exercises in a page are left out where it cannot be had.
    ! command -v npm >/dev/null || vm/pyodide.sh || true
    exit 0
    ;;
exercises)
    vm/pyodide.sh
    exit 0
    ;;
esac
build/venv/bin/python -m labs.scenarios build/page/scenarios.json
build/venv/bin/python -m labs.glass.alone build/page/page.wasm build/page/scenarios.json out/vitrine.html
