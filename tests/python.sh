#!/usr/bin/env bash
# The Python tests of `make test` that need neither a network nor root, with each lab once in the virtual
# world. There is one process more than processors, because some tests wait. tests/live.sh has the other
# tests; those marked `nightly` run in tests/nightly.sh only.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

vm/browser.sh
# Each test sets the settings of its labs itself.
unset WORLD

step "Python tests without networks"
tests/pytest.sh -m "not live and not nightly" -n "$(($(nproc) + 1))" --dist worksteal --budget tests/budget.toml
