#!/usr/bin/env bash
# python.sh [PYTEST ARGUMENTS]: the Python tests. As root, because the live ones build networks;
# `-m "not live"` picks those that need neither, and where there can be no network they are all.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/worlds.sh

vm/browser.sh
step "Python tests"
if [[ "$*" == *"not live"* ]]; then
    exec build/venv/bin/python -m pytest "$@"
fi
choose_world
if [ "$WORLD" = virtual ]; then
    step "Left out: the tests of live networks (tests/live)${why_virtual:+, because $why_virtual}."
    exec build/venv/bin/python -m pytest -m "not live" "$@"
fi
exec vm/as_root.sh build/venv/bin/python -m pytest "$@"
