#!/usr/bin/env bash
# cross.sh ARCHITECTURE: names the folder with the file `vitrine`, which is all programs, for a machine
# of that kind (amd64, arm64). For another kind than this machine's it is built first, by a Rust that
# knows that target and a linker for it.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

wanted=$1
if [ "$wanted" = "$(dpkg --print-architecture)" ]; then
    echo build/bin
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
(cd switch && RUSTC_WRAPPER=${RUSTC_WRAPPER:-$PWD/../vm/rustc.sh} cargo build --release --locked --package vitrine --quiet --target "$target") >&2 ||
    fail "the switch does not build for $wanted: the compiler's message above says where."
echo "switch/target/$target/release"
