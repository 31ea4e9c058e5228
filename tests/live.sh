#!/usr/bin/env bash
# live.sh [--nightly]: the tests of live networks, as root. Each worker runs in namespaces of its own
# (tests/live/isolation.py), so they run side by side; tests marked `alone` follow one by one.
# `make test` has every law and feature once; with --nightly all of them run.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/worlds.sh

choose_world
if [ "$WORLD" = virtual ]; then
    step "Left out: the tests of live networks (tests/live)${why_virtual:+, because $why_virtual}."
    exit 0
fi
# Each test sets the settings of its labs itself.
unset WORLD

step "Python tests of live networks"
tier=" and not nightly"
[ "${1:-}" != --nightly ] || tier=

# live MARKS ARGUMENTS: runs the live tests with these marks. No test with these marks is no failure.
live() {
    local marks=$1 status=0
    shift
    vm/as_root.sh build/venv/bin/python -m pytest tests/live --durations=10 \
        -m "live and $marks$tier" "$@" || status=$?
    [ "$status" -ne 5 ] || status=0
    return "$status"
}

failed=0
# Most of them wait for packets most of the time, so each processor has two.
live "not alone" -n "$((2 * $(nproc)))" --dist loadgroup || failed=$?
live "alone" || failed=$?
exit "$failed"
