#!/usr/bin/env bash
# All labs at full length in the virtual world, and every band of theirs; their results lie in
# build/labs-check, where nobody takes them for a run of his own.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

step "All labs in the virtual world"
began=$SECONDS
rm -rf build/labs-check
mkdir -p build/log
WORLD=virtual VITRINE_RESULTS=build/labs-check build/venv/bin/python -m labs check >build/log/labs-check.log ||
    fail "a lab's bands are not met in the virtual world: see the message above and build/log/labs-check.log."
step "All labs in the virtual world took $((SECONDS - began)) s"
