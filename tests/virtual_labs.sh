#!/usr/bin/env bash
# The command `vitrine run --all` in the virtual world: all labs at full length, and every band. Their results are
# in build/labs-check, apart from users' own runs. tests/labs/test_virtual_labs.py runs the same labs in
# `make test`.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

step "All labs in the virtual world"
began=$SECONDS
rm -rf build/labs-check
mkdir -p build/log
VITRINE_RESULTS=build/labs-check build/venv/bin/python -m vitrine run --all --world virtual >build/log/labs-check.log ||
    fail "a lab's bands are not met in the virtual world: see the message above and build/log/labs-check.log."
step "All labs in the virtual world took $((SECONDS - began)) s"
