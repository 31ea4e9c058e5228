#!/usr/bin/env bash
# pytest.sh ARGUMENTS: runs pytest and, if up to three tests failed, those once more and alone. Browsers
# and kernels keep time of their own: what fails twice is broken, what passes alone is unsteady. Both
# are said, and only the first fails; what is unsteady wants mending all the same.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

pytest() { build/venv/bin/python -m pytest --durations=12 -o cache_dir="$PWD/build/pytest" "$@"; }

# Of an earlier run nothing is repeated.
rm -rf build/pytest/v/cache/lastfailed
status=0
pytest "$@" || status=$?
# 1: some tests failed; anything else is not of the tests' making.
[ "$status" -eq 1 ] || exit "$status"
failed=$(build/venv/bin/python -c 'import json; print(*json.load(open("build/pytest/v/cache/lastfailed")), sep="\n")')
[ "$(wc -l <<<"$failed")" -le 3 ] || exit "$status"

step "Once more, alone, what failed"
pytest "$@" -n 0 --last-failed --last-failed-no-failures none || exit $?
step "UNSTEADY: failed among the others and passed alone; see above what was wrong with"
printf '  %s\n' "$failed"
