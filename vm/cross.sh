#!/usr/bin/env bash
# cross.sh ARCHITECTURE: builds the programs that are shipped, optimised as one, for amd64 or arm64, and
# prints the folder with the file `vitrine`, which is all of them. For another machine than this one it
# needs Rust's library and a linker for that machine.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

wanted=$1
build() {
    (cd switch && RUSTC_WRAPPER=${RUSTC_WRAPPER:-$PWD/../vm/rustc.sh} VITRINE_LINTS=no \
        cargo build --release --locked --package vitrine --quiet "$@") >&2 ||
        fail "the switch does not build for $wanted: the compiler's message above says where."
}

if [ "$wanted" = "$(dpkg --print-architecture)" ]; then
    if vm/prebuilt.sh; then
        echo "${VITRINE_PREBUILT:-/opt/vitrine}/bin"
        exit 0
    fi
    . vm/rust.sh
    [ -e switch/target/release/vitrine ] || step "Building the switch to be shipped (once, about five minutes)"
    build
    echo switch/target/release
    exit 0
fi
case $wanted in
    amd64) machine=x86_64 ;;
    arm64) machine=aarch64 ;;
    *) fail "'$wanted' is no architecture that the kit is for: amd64 and arm64." ;;
esac
target=$machine-unknown-linux-gnu
linker=$machine-linux-gnu-gcc
command -v "$linker" >/dev/null ||
    fail "$linker is missing, which links programs for $wanted: apt install gcc-${machine/_/-}-linux-gnu libc6-dev-$wanted-cross, then run the command again."

. vm/rust.sh
[ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] ||
    quietly build/log/cross.log rustup target add "$target" ||
    fail "this Rust has nothing for $target (see build/log/cross.log): rustup target add $target, then run the command again."
step "Building the switch for $wanted"
linker_setting=CARGO_TARGET_${target//-/_}_LINKER
export "${linker_setting^^}=$linker"
build --target "$target"
echo "switch/target/$target/release"
