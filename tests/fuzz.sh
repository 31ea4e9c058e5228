#!/usr/bin/env bash
# fuzz.sh [minimise]: any bytes as everything that strangers send, for TIME (10min) in all: programs, JSON,
# P4Info, packets, messages of P4Runtime, vitrine.v1 and Thrift, STF scripts, and, with examples changed
# at random, the kit's YAML files and P4Info as text. ONLY="source stf" runs some of them.
#
# The Rust ones are libFuzzer's, led by coverage: the pinned compiler has all that takes (LLVM's
# instruments are flags of it), so no nightly one is needed. They begin from the repository's corpus
# (tests/fuzz_corpus.py) and the findings of earlier runs, in out/fuzz/corpus; inputs that break
# something are in out/fuzz/found. Each has a dictionary, made from its subject's own list of words
# (tests/fuzz_words.py). The end reports the executions of each in all runs (tests/ledger.py).
#
# `minimise` finds as few inputs as take all the ways that those in out/fuzz/corpus take, and makes them
# what the repository keeps, which `make test` tries each time.
#
# SANITIZER=address builds them with AddressSanitizer, which costs about half of the speed and memory
# of its own. The pinned compiler has it, but as a feature that is not stable, hence RUSTC_BOOTSTRAP;
# the standard library stays as it is delivered, so what happens only inside of it is not seen.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh

libfuzzers="json messages p4info packets source stf super_packets thrift world"
python=$PWD/build/venv/bin/python
out=$PWD/out/fuzz
mkdir -p "$out/found" "$out/log" "$out/dictionary"
built=fuzz${SANITIZER:+-$SANITIZER}
target=$(rustc -vV | sed -n 's/^host: //p')
programs=$PWD/switch/target/$built/$target/release
processors=$(nproc)

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
# With a target named, what runs while building has no instruments.
(cd switch/fuzz && RUSTFLAGS=$instruments CARGO_TARGET_DIR="../target/$built" \
    cargo build --quiet --locked --release --bins --target "$target")

# all_at_once FUNCTION NAMES: a function for each of them, one a processor; what it says is in out/fuzz/log.
all_at_once() {
    xargs --max-procs="$processors" --replace bash -c "$1 {} >\"\$out/log/{}\" 2>&1" \
        <<<"$(tr ' ' '\n' <<<"$2")"
}

# fuzz NAME: one of them for its share of the time.
fuzz() {
    local name=$1 flags=() status=0
    if [ "$name" = yaml ]; then
        "$python" -m tests.fuzz_texts "$share" || status=$?
        echo "stat::seconds: $SECONDS"
        return "$status"
    fi
    mkdir -p "$out/corpus/$name"
    rm -rf "$out/kept/$name"
    "$python" -m tests.fuzz_corpus unpack "$name" "$out/kept/$name"
    local dictionary=switch/fuzz/p4.dict
    if [ "$name" != source ]; then
        dictionary=$out/dictionary/$name
        "$python" -m tests.fuzz_words "$name" >"$dictionary"
    fi
    [ "$name" != json ] || flags+=(-max_len=40000)
    SECONDS=0
    # An input may take ten seconds and 2 GiB (with a sanitizer twice as much); a loaded machine needs
    # its time.
    "$programs/$name" "$out/corpus/$name" "$out/kept/$name" -dict="$dictionary" "${flags[@]}" \
        -max_total_time="$share" -timeout=10 -rss_limit_mb="$memory_mb" -print_final_stats=1 \
        -report_slow_units=10 -artifact_prefix="$out/found/$name-" || status=$?
    echo "stat::seconds: $SECONDS"
    return "$status"
}

# minimise NAME: as little of its corpus as takes the same ways, into the repository.
minimise() {
    local name=$1 small=$out/small/$1
    rm -rf "$small" "$out/kept/$name"
    mkdir -p "$out/corpus/$name"
    "$python" -m tests.fuzz_corpus unpack "$name" "$out/kept/$name"
    # Inputs in the repository come first, and need not be kept twice.
    "$python" -m tests.fuzz_corpus examples "$name" "$small"
    # Ways, and not how often each is taken: that would keep ten times as much.
    "$programs/$name" -set_cover_merge=1 -use_counters=0 -timeout=10 \
        -rss_limit_mb="$memory_mb" -max_len=1000000 "$small" "$out/kept/$name" "$out/corpus/$name"
    "$python" -m tests.fuzz_corpus pack "$name" "$small"
}
export -f fuzz minimise
export out programs memory_mb python share

if [ "${1:-}" = minimise ]; then
    names=${ONLY:-$libfuzzers}
    step "Minimising: $names"
    all_at_once minimise "$names" || fail "it did not come to its end: out/fuzz/log says why."
    for name in $names; do
        tail -n 1 "$out/log/$name"
    done
    exit
fi

seconds=$("$python" -m tests.chaos.span "${DURATION:-10min}")
names=${ONLY:-$libfuzzers yaml}
share=$((seconds * processors / $(wc -w <<<"$names")))
step "Fuzzing: $names, each for $share s"
status=0
# An interruption ends with the summary.
trap : INT TERM
all_at_once fuzz "$names" || status=$?
for name in $names; do
    # One that was killed has said last how many there were at some power of two.
    count=$(sed -n 's/^stat::number_of_executed_units: *//p; s/^#\([0-9]\+\)[^0-9].*/\1/p' "$out/log/$name" | tail -n 1)
    took=$(sed -n 's/^stat::seconds: *//p' "$out/log/$name")
    "$python" -m tests.ledger add "fuzz $name${SANITIZER:+, $SANITIZER sanitizer}" "${count:-0}" "${took:-$share}"
    printf '  %-14s %12d executed\n' "$name" "${count:-0}"
done
step "In all runs on this machine (out/ledger)"
"$python" -m tests.ledger
if [ "$status" -ne 0 ] || [ -n "$(ls -A "$out/found")" ]; then
    fail "something broke: what it was given is in out/fuzz/found, what it said in out/fuzz/log."
fi
