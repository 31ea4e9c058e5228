#!/usr/bin/env bash
# What takes too long for every change. Each says how often it was done.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh
optimised() { (cd switch && "$@" --locked --profile dev-live); }
VITRINE_TRANSFERS=1000000 optimised cargo test -p vitrine-hosts --test transfers
VITRINE_NETWORKS=1000 optimised cargo test -p vitrine-world --test scenarios
SEEDS=100000 optimised cargo test -p vitrine-agent --test simulated
tests/determinism.sh 100
tests/elsewhere.sh
vm/page.sh
VITRINE_PAGE_SEEDS=100 build/venv/bin/python -m pytest tests/page
VITRINE_REFERENCE_RUNS=100 build/venv/bin/python -m pytest tests/course/test_exercises.py -k the_reference_gets
tests/notebooks/kernel.sh
TIME=30min WORLD=virtual build/venv/bin/python -m tests.chaos.interruptions
TIME=1h tests/fuzz.sh

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
guests TUTORIALS make conformance-tutorials
guests ADVISORIES make advisories
[ ${#failed[@]} -eq 0 ] || { printf 'failed: %s\n' "${failed[@]}" >&2; exit 1; }
