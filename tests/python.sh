#!/usr/bin/env bash
# python.sh [--without-networks]: the Python tests. First those that need neither a network nor root,
# one process a processor, and all labs in the virtual world; then, where this machine can have
# networks, the live ones, one by one and as root, because they measure what goes through them.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/worlds.sh

vm/browser.sh
choose_world
world=$WORLD
# A test says itself which settings its labs run with.
unset WORLD

step "Python tests without networks"
# What fails here does not keep the live tests from telling what fails there.
status=0
tests/pytest.sh -m "not live" -n "$(nproc)" || status=$?

tests/virtual_labs.sh || status=$?

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
