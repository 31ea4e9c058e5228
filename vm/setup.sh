#!/usr/bin/env bash
# setup.sh [tests]: makes the kit ready to run: packages, Rust, Python, the build; with `tests` also what
# `make test` needs: Chromium, the test programs, the one-file page. Safe to run again: it leaves alone
# what is there, and a second run takes seconds.
#
# Whatever would stop it half way is checked first. Then packages, Python and the compiler run side by
# side, because the first two wait for the network and the third for the processor. vm/provision.sh makes a
# whole lab machine.
#
# A machine without live networks is prepared for the virtual world only, and it says so.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/distribution.sh
. vm/worlds.sh

# While a container is built there are no namespaces yet; the first lab looks again.
if [ "${NAMESPACES:-now}" = later ] || dry_run; then
    export WORLD=live
else
    choose_world
    say_world
    [ "$WORLD" = virtual ] || vm/privilege.sh
fi
# The compiler and Python need a few packages, the labs the rest.
if dry_run; then vm/packages.sh; else vm/packages.sh first; fi
is_there vm/prebuilt.sh || (. vm/rust.sh)

if dry_run; then
    vm/python.sh
    vm/build.sh
    exit 0
fi
# A job cannot prompt for a password, so sudo does now if the tests' browser is still to be
# installed.
if [ "${1:-}" = tests ] && [ "$(id -u)" -ne 0 ] && [ -t 0 ] && ! command -v chromium >/dev/null; then sudo -v || true; fi
. vm/jobs.sh
job packages vm/packages.sh "${1:-}"
job python vm/python.sh
job switch vm/build.sh "${1:-}"
finish_jobs
