#!/usr/bin/env bash
# The Python tests of `make test` that need neither a network nor root, one process more than processors, with each
# lab once in the virtual world. tests/live.sh has the others; tests marked `nightly` run in
# tests/nightly.sh only.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

vm/browser.sh
# Each test sets the settings of its labs itself.
unset WORLD

step "Python tests without networks"
tests/pytest.sh -m "not live and not nightly" -n "$(($(nproc) + 1))" --dist worksteal --budget tests/budget.toml
