#!/usr/bin/env bash
# fuzz.sh: any bytes as everything that strangers send, for TIME (10min) in all: programs, JSON, P4Info,
# packets, messages of P4Runtime, vitrine.v1 and Thrift, STF scripts, and, with examples changed at
# random, the kit's YAML files and P4Info as text. ONLY="source stf" runs some of them.
#
# The Rust ones are libFuzzer's, led by coverage: the pinned compiler has all that takes (LLVM's
# instruments are flags of it), so no nightly one is needed. What they find interesting is kept in
# out/fuzz/corpus, and the next run begins with it; what breaks something in out/fuzz/found. Each has a
# dictionary, made from where its subject has the words (tests/fuzz_words.py).
#
# SANITIZER=address builds them with AddressSanitizer, which costs about half of the speed and memory
# of its own. The pinned compiler has it, but as a feature that is not stable, hence RUSTC_BOOTSTRAP;
# the standard library stays as it is delivered, so what happens only inside of it is not seen.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh

seconds=$(build/venv/bin/python -m tests.chaos.span "${TIME:-10min}")
names=${ONLY:-json messages p4info packets source stf super_packets thrift world yaml}
out=$PWD/out/fuzz
mkdir -p "$out/found" "$out/log" "$out/dictionary"
built=fuzz${SANITIZER:+-$SANITIZER}
processors=$(nproc)
share=$((seconds * processors / $(wc -w <<<"$names")))
target=$(rustc -vV | sed -n 's/^host: //p')

step "Building the fuzzers (once, some minutes)"
instruments="--cfg fuzzing -Cpasses=sancov-module"
for flag in -sanitizer-coverage-level=4 -sanitizer-coverage-inline-8bit-counters \
    -sanitizer-coverage-pc-table -sanitizer-coverage-trace-compares; do
    instruments+=" -Cllvm-args=$flag"
done
memory_mb=2048
if [ -n "${SANITIZER:-}" ]; then
    export RUSTC_BOOTSTRAP=1
    instruments+=" -Zsanitizer=$SANITIZER"
    memory_mb=4096
fi
export VITRINE_PYTHON=${VITRINE_PYTHON:-$PWD/build/venv/bin/python}
# With a target named, what runs while building has no instruments.
(cd switch/fuzz && RUSTFLAGS=$instruments CARGO_TARGET_DIR="../target/$built" \
    cargo build --quiet --locked --release --bins --target "$target")

# examples NAME: where a fuzzer begins that has seen nothing yet.
examples() {
    case $1 in
        source) echo tests/packets/*.p4 p4src/*/*.p4 ;;
        stf) echo tests/packets/*.stf ;;
        json) echo switch/crates/pipeline/tests/programs/*.json ;;
    esac
}

# fuzz NAME: one of them for its share of the time.
fuzz() {
    local name=$1 corpus=$out/corpus/$1 flags=()
    if [ "$name" = yaml ]; then
        exec build/venv/bin/python -m tests.fuzz_texts "$share"
    fi
    if [ ! -d "$corpus" ]; then
        mkdir -p "$corpus"
        for file in $(examples "$name"); do
            [ ! -e "$file" ] || cp "$file" "$corpus/"
        done
    fi
    local dictionary=switch/fuzz/p4.dict
    if [ "$name" != source ]; then
        dictionary=$out/dictionary/$name
        build/venv/bin/python -m tests.fuzz_words "$name" >"$dictionary"
    fi
    flags+=(-dict="$dictionary")
    [ "$name" != json ] || flags+=(-max_len=40000)
    # An input may take ten seconds and 2 GiB (with a sanitizer twice as much); a loaded machine needs
    # its time.
    exec "switch/target/$built/$target/release/$name" "$corpus" "${flags[@]}" \
        -max_total_time="$share" -timeout=10 -rss_limit_mb="$memory_mb" -print_final_stats=1 \
        -artifact_prefix="$out/found/$name-"
}
export -f fuzz examples
export out share target built memory_mb

step "Fuzzing: $names, each for $share s"
status=0
xargs --max-procs="$processors" --replace bash -c 'fuzz {} >"$out/log/{}" 2>&1' \
    <<<"$(tr ' ' '\n' <<<"$names")" || status=$?
total=0
for name in $names; do
    count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/log/$name")
    printf '  %-14s %12d executed\n' "$name" "${count:=0}"
    total=$((total + count))
done
printf '  %-14s %12d executed\n' all "$total"
if [ "$status" -ne 0 ] || [ -n "$(ls -A "$out/found")" ]; then
    fail "something broke: what it was given is in out/fuzz/found, what it said in out/fuzz/log."
fi
