#!/usr/bin/env bash
# pytest.sh ARGUMENTS: runs pytest and lists the ten slowest tests at the end. A test that fails is not
# run again: it fails the run. Tests read no input, so a closed standard input does not matter.
set -euo pipefail
cd "$(dirname "$0")/.."
exec build/venv/bin/python -m pytest --durations=10 "$@" </dev/null
