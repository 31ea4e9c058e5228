#!/usr/bin/env bash
# Tests that take too long for every change. Each reports its count. With QUICK=1 a little of each, to
# check that all of them start and finish.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh
transfers=1000000 networks=1000 histories=100000 programs=10000 seeds=100 soaked=24 interrupted=30min fuzzed=1h
if [ "${QUICK:-}" = 1 ]; then
    transfers=2000 networks=20 histories=200 programs=100 seeds=2 soaked=0.2 interrupted=1min fuzzed=1min
fi
optimised() { (cd switch && "$@" --locked --profile dev-live); }
VITRINE_TRANSFERS=$transfers optimised cargo test -p vitrine-hosts --test all transfers
VITRINE_NETWORKS=$networks optimised cargo test -p vitrine-world --test all scenarios
began=$SECONDS
# Other histories each night of the year.
SEEDS=$histories FROM=$((10#$(date +%j) * histories)) optimised cargo test -p vitrine-agent --test all simulated
build/venv/bin/python -m tests.ledger add "histories of controllers" "$histories" $((SECONDS - began))
# Texts of programs against what loading them is charged, and sources that double.
SEEDS=$((seeds * 100)) optimised cargo test -p vitrine-pipeline --test allocation
SEEDS=$((seeds * 10)) optimised cargo test -p vitrine-compiler --test growth
# Lints of the benchmarks, which no test builds; and the generated code, byte by byte.
(cd switch && cargo clippy --quiet --locked --workspace --all-targets -- -D warnings)
tests/generated_code.sh check
vm/page.sh exercises-light
vm/page.sh
# All Python tests without networks, those marked `nightly` included.
tests/pytest.sh -m "not live" -n "$(nproc)" --dist worksteal
tests/virtual_labs.sh
# All tests of live networks, the labs at full length among them.
tests/live.sh --nightly
SEEDS=$seeds build/venv/bin/python -m pytest tests/controller/test_restored_histories.py
build/venv/bin/python -m tests.generated --from "$(date +%j)0000" --count "$programs"
tests/determinism.sh "$seeds"
tests/reproducible.sh
tests/sanitized.sh
tests/elsewhere.sh
VITRINE_PAGE_SEEDS=$seeds build/venv/bin/python -m pytest tests/page
VITRINE_REFERENCE_RUNS=$seeds build/venv/bin/python -m pytest tests/course/test_exercises.py -k the_reference_gets
VITRINE_LOOKING_SEEDS=$((10 * seeds)) build/venv/bin/python -m pytest tests/glass/test_cost_of_looking.py
tests/notebooks/kernel.sh
VITRINE_SPAN_S=60 build/venv/bin/python -m pytest -s tests/control/test_memory.py
DURATION=${soaked}h WORLD=virtual build/venv/bin/python -m tests.chaos.soak
DURATION=$interrupted WORLD=virtual build/venv/bin/python -m tests.chaos.interruptions
DURATION=$fuzzed tests/fuzz.sh

# Other projects' programs and tests, where their checkouts are named.
failed=()
guests() {
    local variable=$1
    shift
    if [ -z "${!variable:-}" ]; then
        echo "left out: $* (set $variable to its checkouts)"
    else
        "$@" || failed+=("$*")
    fi
}
guests P4C make conformance
guests CHECKOUTS make conformance-guests
guests P4UTILS make conformance-p4-learning
guests PTF make conformance-ptf
guests ORACLE make conformance-testgen
[ -z "${ORACLE:-}" ] || guests CHECKOUTS make conformance-answers
guests TUTORIALS make conformance-tutorials
guests ADVISORIES make advisories
[ ${#failed[@]} -eq 0 ] || { printf 'failed: %s\n' "${failed[@]}" >&2; exit 1; }
