# Runs long set-up jobs side by side and shows how far each has come. To be sourced behind vm/say.sh.
#
#   job packages vm/packages.sh
#   job switch vm/build.sh
#   finish_jobs
#
# A job's output goes to build/log/NAME.job; its lines for the user, which begin with "[vitrine]", are
# shown at once. On a terminal the last line counts what cargo has compiled. When a job fails, its last
# lines are shown, the others are ended, and the script fails.

declare -A job_pids=() job_began=()
jobs_folder=$(mktemp -d)
mkfifo "$jobs_folder/events"
exec {jobs_events}<>"$jobs_folder/events"

# job NAME COMMAND...: starts a command beside the others.
job() {
    local name=$1
    shift
    mkdir -p build/log
    job_began[$name]=$SECONDS
    # A process group of its own: what it started ends with it.
    set -m
    (
        status=0
        # Cargo draws its progress with carriage returns, and only where it is told to.
        CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=100 "$@" \
            >"build/log/$name.job" 2> >(tr '\r' '\n' | job_reads "$name" >>"build/log/$name.job") || status=$?
        wait
        echo "$name ended $status" >"$jobs_folder/events"
    ) </dev/null &
    job_pids[$name]=$!
    set +m
}

# job_reads NAME: passes a job's output on, its sentences and its progress as events.
job_reads() {
    local line
    while IFS= read -r line; do
        case $line in
            "[vitrine]"*) echo "$1 says $line" >"$jobs_folder/events" ;;
            *Building*[0-9]/[0-9]*) echo "$1 compiled $(sed -n 's/.* \([0-9]\+\/[0-9]\+\).*/\1/p' <<<"$line")" >"$jobs_folder/events" && continue ;;
        esac
        printf '%s\n' "$line"
    done
}

# finish_jobs: waits for all jobs; ends the script with the first that fails.
finish_jobs() {
    local name kind rest progress=
    trap 'end_jobs; exit 130' INT
    trap 'end_jobs; exit 143' TERM
    while [ ${#job_pids[@]} -gt 0 ]; do
        read -r name kind rest <&"$jobs_events"
        case $kind in
            says) say_over "$rest" ;;
            compiled) progress="$name: $rest crates$(time_left "$rest" $((SECONDS - job_began[$name])))" ;;
            ended)
                unset "job_pids[$name]"
                [ "$name" != "${progress%%:*}" ] || progress=
                if [ "$rest" -ne 0 ]; then
                    say_over ""
                    grep -v '^\[vitrine\]' "build/log/$name.job" | tail -n 20 >&2
                    end_jobs
                    exit "$rest"
                fi
                say_over "[vitrine] $name: ready after $((SECONDS - job_began[$name])) s"
                ;;
        esac
        show_progress "$progress"
    done
    trap - INT TERM
    rm -rf "$jobs_folder"
}

end_jobs() {
    local pid
    for pid in "${job_pids[@]}"; do kill -- "-$pid" 2>/dev/null || true; done
    rm -rf "$jobs_folder"
}

# say_over LINE: prints a line where the progress stood.
say_over() {
    [ ! -t 2 ] || printf '\r\033[K' >&2
    [ -z "$1" ] || printf '%s\n' "$1" >&2
}

show_progress() {
    local running=${!job_pids[*]}
    [ ! -t 2 ] || [ -z "$running" ] || printf '\r\033[K[vitrine] still working: %s%s' "${running// /, }" "${1:+ ($1)}" >&2
}
