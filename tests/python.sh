#!/usr/bin/env bash
# python.sh [--without-networks]: the Python tests of `make test`. First those that need neither a network
# nor root, one process per processor, with each lab once in the virtual world; then, where this machine can have
# networks, the live ones, one by one and as root, because they measure what goes through them.
# Tests marked `nightly` run in tests/nightly.sh only.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/worlds.sh

vm/browser.sh
choose_world
world=$WORLD
# Each test sets the settings of its labs itself.
unset WORLD

step "Python tests without networks"
# A failure here does not stop the live tests.
status=0
tests/pytest.sh -m "not live and not nightly" -n "$(nproc)" --dist worksteal --budget tests/budget.toml ||
    status=$?

if [ "${1:-}" = --without-networks ]; then
    exit "$status"
fi
if [ "$world" = virtual ]; then
    step "Left out: the tests of live networks (tests/live)${why_virtual:+, because $why_virtual}."
    exit "$status"
fi
step "Python tests of live networks"
vm/as_root.sh tests/pytest.sh -m live || status=$?
exit "$status"
