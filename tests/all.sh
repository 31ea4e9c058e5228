#!/usr/bin/env bash
# Everything `make test` runs once the machine is set up, the cheapest checks first. What fails in one
# part does not keep the others from telling what fails there; at the end, how long each took.
set -uo pipefail
cd "$(dirname "$0")"
. ../vm/say.sh

status=0
took=()
for part in lint rust python; do
    began=$SECONDS
    result=ok
    "./$part.sh" || { status=1 result=FAILED; }
    took+=("$part $result in $((SECONDS - began)) s")
done
step "$(IFS=,; echo "${took[*]}" | sed 's/,/, /g')"
exit "$status"
