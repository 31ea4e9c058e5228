#!/usr/bin/env bash
# Everything `make test` runs once the machine is set up, the cheapest checks first; at its end, how
# long each took.
set -euo pipefail
cd "$(dirname "$0")"
. ../vm/say.sh

took=()
for part in lint rust python; do
    began=$SECONDS
    "./$part.sh"
    took+=("$part $((SECONDS - began)) s")
done
step "All tests passed: $(IFS=,; echo "${took[*]}" | sed 's/,/, /g')"
