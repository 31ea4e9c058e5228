#!/usr/bin/env bash
# python.sh [PYTEST ARGUMENTS]: the Python tests. As root, because the live ones build networks;
# `-m "not live"` picks those that need neither.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

vm/browser.sh
step "Python tests"
if [[ "$*" == *"not live"* ]]; then
    exec build/venv/bin/python -m pytest "$@"
fi
exec vm/as_root.sh build/venv/bin/python -m pytest "$@"
