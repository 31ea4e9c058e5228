# How the set-up scripts speak: one line for each long step, one sentence when something is missing.
# To be sourced. Messages go to standard error, so that a script's output stays usable.

# step TEXT: says which long step begins.
step() {
    printf '[vitrine] %s\n' "$*" >&2
}

# fail SENTENCE: says what is missing and what to do, and ends the script.
fail() {
    printf '[vitrine] Cannot go on: %s\n' "$*" >&2
    exit 1
}

# quietly LOG COMMAND...: runs a command into a log file; its last lines are shown only if it fails.
quietly() {
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    if ! "$@" >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        return 1
    fi
}

# dry_run: whether things are only to be said (vm/provision.sh --dry-run) and nothing is to be changed.
dry_run() {
    [ "${VITRINE_DRY_RUN:-no}" = yes ]
}

# would TEXT: in a dry run says what would be done, and succeeds; otherwise fails.
would() {
    dry_run && printf -- '- %s\n' "$*"
}
