#!/usr/bin/env bash
# Everything that `make test` runs once the machine is set up. Live networks wait for packets most of the
# time, so lints and Rust tests run beside them; the Python tests fill both processors by themselves. A part
# that fails stops no other. Each part's output is in build/log/test-NAME.log and, if it fails, on the
# terminal. At the end there is a line for each part, and the ten slowest Python tests.
set -uo pipefail
cd "$(dirname "$0")" || exit
. ../vm/say.sh

logs=../build/log
mkdir -p "$logs"
status=0
lines=()
declare -A parts=() began=()

# begin PART: starts a part beside the others, in a process group of its own.
begin() {
    began[$1]=$SECONDS
    set -m
    (set -o pipefail && "./$1.sh" 2>&1 </dev/null | into "$1") &
    set +m
    parts[$!]=$1
}

# into PART: its output goes to its log; on a terminal the Python tests also show their progress.
into() {
    if [ "$1" = python ] && [ -t 1 ]; then tee "$logs/test-$1.log"; else cat >"$logs/test-$1.log"; fi
}

# finish: waits for all parts that have begun.
finish() {
    local pid part result
    while [ ${#parts[@]} -gt 0 ]; do
        result=ok
        wait -n -p pid "${!parts[@]}" || { status=1 result=FAILED; }
        part=${parts[$pid]}
        unset "parts[$pid]"
        lines+=("$(printf '%-7s %-6s %4d s' "$part" "$result" $((SECONDS - began[$part])))")
        step "${lines[-1]}"
        [ "$result" = ok ] || cat "$logs/test-$part.log"
    done
}

# slowest: the ten slowest tests of all logs, as pytest lists them.
slowest() {
    grep -hE '^[0-9.]+s (call|setup|teardown) ' "$logs"/test-{python,live}.log | sort -rn | head -n 10
}

# interrupt STATUS: ends all parts with everything that they started.
interrupt() {
    local pid
    for pid in "${!parts[@]}"; do kill -- "-$pid" 2>/dev/null || true; done
    exit "$1"
}
trap 'interrupt 130' INT
trap 'interrupt 143' TERM HUP
rm -f "$logs"/test-*.log
step "Lints, Rust tests and live networks side by side"
for part in lint rust live; do begin "$part"; done
finish
step "Python tests without networks"
begin python
finish

step "The ten slowest tests:"
slowest >&2
step "All parts:"
printf '  %s\n' "${lines[@]}" >&2
exit "$status"
