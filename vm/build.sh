#!/usr/bin/env bash
# build.sh [tests|optimised]: builds what runs: the Rust programs into build/bin and the P4 programs into
# build/p4. With `tests` it builds the Rust tests, too, and the page's module for the tests in a browser.
# With `optimised` the programs are those of `make dist`, for benchmarks; what runs afterwards keeps them.
#
# Clone and tests share one build, the profile `dev`; `make dist` builds the profile `release`. Nothing is
# compiled while the checksum of the sources is that of the last build, so a copied folder is not built
# again, whatever the times of its files.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/distribution.sh
. vm/sources.sh

if dry_run; then
    # Only the build itself knows which parts are out of date.
    is_there test -x build/bin/vitrine-switch -a -e build/p4/router.json ||
        would "build the switch and compile the P4 programs into build/"
    exit 0
fi

mkdir -p build/bin build/dropin build/p4
if vm/prebuilt.sh; then
    ln -sfn "${VITRINE_PREBUILT:-/opt/vitrine}/bin/vitrine" build/bin/vitrine-programs
else
    profile=dev built=switch/target/debug/vitrine
    sources=$(switch_sources)
    made_from=$(cat build/bin/made-from 2>/dev/null || true)
    if [ "${1:-}" = optimised ] || { [ "${1:-}" != tests ] && [ "$made_from" = "release $sources" ]; }; then
        profile=release built=switch/target/release/vitrine
    fi
    if [ ! -x "$built" ] || [ "$made_from" != "$profile $sources" ]; then
        . vm/rust.sh
        if [ "$profile" = release ]; then
            vm/cross.sh "$architecture" >/dev/null
        else
            [ -x "$built" ] || step "Building the switch (once, about three minutes on two processors)"
            # `--examples` makes cargo choose the features that the tests need, so that no crate is built twice.
            (cd switch && cargo build --locked --bins --examples) ||
                fail "the switch does not build: the compiler's message above says where."
        fi
        echo "$profile $sources" >build/bin/made-from
    fi
    ln -sfn "../../$built" build/bin/vitrine-programs
fi
# One file, which is each of the programs by its name.
for program in vitrine-p4c vitrine-switch vitrine-sim; do
    ln -sfn vitrine-programs "build/bin/$program"
done
# The command's name; `. build/activate` puts it on the path.
ln -sfn ../../vm/vitrine build/bin/vitrine
ln -sfn ../vm/activate build/activate
# Under these names the programs take the flags of the p4lang originals.
for name in p4c p4c-bm2-ss p4c-bm2-psa p4test p4fmt p4c-graphs; do
    ln -sfn ../bin/vitrine-p4c "build/dropin/$name"
done
ln -sfn ../bin/vitrine-switch build/dropin/simple_switch_grpc
ln -sfn ../bin/vitrine-switch build/dropin/simple_switch
ln -sfn ../bin/vitrine-switch build/dropin/psa_switch
for name in simple_switch_CLI psa_switch_CLI; do
    ln -sfn ../../guests/simple_switch_CLI "build/dropin/$name"
done

# A program with a mistake is reported here and stops only those who want it.
/usr/bin/python3 -m controller.compiling ||
    fail "the kit's own programs do not compile: the messages above say where."

if [ "${1:-}" = tests ]; then
    . vm/rust.sh
    step "Building the Rust tests and the page's module"
    (cd switch && cargo test --locked --no-run) || fail "the Rust tests do not build: the compiler's message above says where."
    if vm/wasm.sh; then
        vm/page.sh light
        # The page does without these crates of the core, which are built for web pages
        # nevertheless.
        (cd switch && VITRINE_LINTS=no cargo build --quiet --locked --profile page-light --target wasm32-unknown-unknown \
            --package vitrine-queueing --package vitrine-thrift --package vitrine-bmruntime)
    fi
fi
