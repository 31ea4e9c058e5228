# Runs long set-up jobs side by side and shows how far each has come, in the voice of vm/say.sh.
# To be sourced.
#
#   job packages vm/packages.sh
#   job switch vm/build.sh
#   finish_jobs
#
# All output of a job goes to build/log/NAME.job, and its sentences for the user, which begin with
# "[vitrine]", to the terminal at once. There the last line counts what cargo has compiled and says how
# long it will take. The first job that fails ends the others and the script, and its last lines are shown.

declare -A job_pids=() job_began=()
jobs_folder=$(mktemp -d)
mkfifo "$jobs_folder/events"
exec {jobs_events}<>"$jobs_folder/events"

# Percent of the build's time at each tenth of its crates, measured on two processors: the large crates
# come late.
job_curve=(0 3 6 12 20 26 32 44 66 80 100)

# job NAME COMMAND...: starts a command beside the others.
job() {
    local name=$1
    shift
    mkdir -p build/log
    job_began[$name]=$SECONDS
    # A process group of its own: whatever the job started ends with it.
    set -m
    (
        # The job's status is an event, not the end of this shell.
        set +e
        # Cargo draws its progress with carriage returns, and only on request.
        CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=100 "$@" 2>&1 |
            stdbuf -oL tr '\r' '\n' | job_reads "$name" >"build/log/$name.job"
        echo "$name ended ${PIPESTATUS[0]}" >"$jobs_folder/events"
    ) </dev/null &
    job_pids[$name]=$!
    set +m
}

# job_reads NAME: passes a job's output on; sentences and progress become events as well.
job_reads() {
    local line
    local -r count='.*Building.* ([0-9]+)/([0-9]+).*'
    while IFS= read -r line; do
        if [[ $line =~ $count ]]; then
            echo "$1 compiled ${BASH_REMATCH[1]} ${BASH_REMATCH[2]}" >"$jobs_folder/events"
            continue
        fi
        [[ $line != "[vitrine]"* ]] || echo "$1 says $line" >"$jobs_folder/events"
        printf '%s\n' "$line"
    done
}

# finish_jobs: waits for all jobs, or ends the script with the first that fails.
finish_jobs() {
    local name kind rest progress=
    trap 'end_jobs; exit 130' INT
    trap 'end_jobs; exit 143' TERM HUP
    while [ ${#job_pids[@]} -gt 0 ]; do
        read -r name kind rest <&"$jobs_events"
        case $kind in
            says) over_progress "$rest" ;;
            compiled) progress="$name: ${rest/ /\/} crates$(time_left "${rest% *}" "${rest#* }" $((SECONDS - job_began[$name])))" ;;
            ended)
                unset "job_pids[$name]"
                [ "$name" != "${progress%%:*}" ] || progress=
                [ "$rest" -eq 0 ] || job_failed "$name" "$rest"
                over_progress "[vitrine] $name: ready after $((SECONDS - job_began[$name])) s"
                ;;
        esac
        show_progress "$progress"
    done
    trap - INT TERM HUP
    over_progress ""
    rm -rf "$jobs_folder"
}

# job_failed NAME STATUS: its sentences were shown; the lines before them say more.
job_failed() {
    over_progress ""
    [ ! -r "build/log/$1.job" ] || grep -v '^\[vitrine\]' "build/log/$1.job" | tail -n 20 >&2 || true
    grep -q 'Cannot go on' "build/log/$1.job" || printf '[vitrine] Cannot go on: %s failed, see build/log/%s.job.\n' "$1" "$1" >&2
    end_jobs
    exit "$2"
}

end_jobs() {
    local pid
    for pid in "${job_pids[@]}"; do kill -- "-$pid" 2>/dev/null || true; done
    rm -rf "$jobs_folder"
}

# time_left DONE TOTAL ELAPSED: how long cargo still needs, once there is something to go by.
time_left() {
    local tenth=$((10 * $1 / $2))
    local spent=${job_curve[tenth]}
    [ "$tenth" -ge 10 ] || spent=$((spent + (job_curve[tenth + 1] - spent) * (10 * $1 % $2) / $2))
    [ "$spent" -ge 5 ] || return 0
    local left=$(($3 * (100 - spent) / spent))
    printf ', about %d:%02d left' $((left / 60)) $((left % 60))
}

# over_progress LINE: prints a line in place of the progress.
over_progress() {
    [ ! -t 2 ] || printf '\r\033[K' >&2
    [ -z "$1" ] || printf '%s\n' "$1" >&2
}

show_progress() {
    [ -t 2 ] && [ ${#job_pids[@]} -gt 0 ] || return 0
    local running="${!job_pids[*]}"
    printf '\r\033[K[vitrine] working: %s%s' "${running// /, }" "${1:+ ($1)}" >&2
}
