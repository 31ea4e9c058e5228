#!/usr/bin/env bash
# Everything that `make test` runs once the machine is set up, the cheapest checks first. A part that fails
# does not stop the next one. At the end there is a line for each part, with its time.
set -uo pipefail
cd "$(dirname "$0")"
. ../vm/say.sh

status=0
lines=()
for part in lint rust python live; do
    began=$SECONDS
    result=ok
    "./$part.sh" || { status=1 result=FAILED; }
    lines+=("$(printf '%-7s %-6s %4d s' "$part" "$result" $((SECONDS - began)))")
done
step "All parts:"
printf '  %s\n' "${lines[@]}" >&2
exit "$status"
