#!/usr/bin/env bash
# pytest.sh ARGUMENTS: runs pytest and, if up to three tests failed, those once more and alone. Browsers
# and kernels keep time of their own: what fails twice is broken, what passes alone is unsteady. Both
# are said, and only the first fails; what is unsteady wants mending all the same.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

failures=$(mktemp)
trap 'rm -f "$failures"' EXIT
status=0
VITRINE_FAILED=$failures build/venv/bin/python -m pytest --durations=12 "$@" || status=$?
# 1: some tests failed; anything else is not of the tests' making.
[ "$status" -eq 1 ] || exit "$status"
mapfile -t failed <"$failures"
[ "${#failed[@]}" -gt 0 ] && [ "${#failed[@]}" -le 3 ] || exit "$status"

step "Once more, alone, what failed"
build/venv/bin/python -m pytest "${failed[@]}" || exit $?
step "UNSTEADY: failed among the others and passed alone; see above what was wrong with"
printf '  %s\n' "${failed[@]}"
