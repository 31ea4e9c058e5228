#!/usr/bin/env bash
# Builds what runs: the Rust programs (release) into build/bin, and the P4 programs into build/p4. Each
# step is skipped while its inputs are unchanged.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/distribution.sh

if dry_run; then
    # What of a build is out of date only the build itself can tell.
    is_there test -x build/bin/vitrine-switch -a -e build/p4/router.json ||
        would "build the switch and compile the P4 programs into build/"
    exit 0
fi

if vm/prebuilt.sh; then
    built=${VITRINE_PREBUILT:-/opt/vitrine}/bin/vitrine
else
    . vm/rust.sh
    [ -x switch/target/release/vitrine ] || step "Building the switch (once, a few minutes)"
    quiet=--quiet
    [ ! -t 2 ] || quiet=
    (cd switch && RUSTC_WRAPPER=${RUSTC_WRAPPER:-$PWD/../vm/rustc.sh} cargo build --release --locked --package vitrine $quiet) ||
        fail "the switch does not build: the compiler's message above says where."
    built=../../switch/target/release/vitrine
fi

mkdir -p build/bin build/dropin build/p4
# One file, which is each of the programs by its name.
ln -sfn "$built" build/bin/vitrine
for program in vitrine-p4c vitrine-switch vitrine-sim; do
    ln -sfn vitrine "build/bin/$program"
done
# Under these names the programs take the flags of the p4lang originals.
ln -sfn ../bin/vitrine-p4c build/dropin/p4c-bm2-ss
ln -sfn ../bin/vitrine-p4c build/dropin/p4c-bm2-psa
ln -sfn ../bin/vitrine-p4c build/dropin/p4c
ln -sfn ../bin/vitrine-switch build/dropin/simple_switch_grpc
ln -sfn ../bin/vitrine-switch build/dropin/simple_switch
ln -sfn ../bin/vitrine-switch build/dropin/psa_switch
for name in simple_switch_CLI psa_switch_CLI; do
    ln -sfn ../../guests/simple_switch_CLI "build/dropin/$name"
done

# A program with a mistake is told of here and stops only those who want it.
/usr/bin/python3 -m controller.compiling ||
    fail "the kit's own programs do not compile: the messages above say where."
