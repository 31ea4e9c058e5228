#!/usr/bin/env bash
# live_or_not.sh COMMAND...: runs a command with WORLD=live where LIVE=1 asks for it, else WORLD=virtual.
set -euo pipefail
case ${LIVE:-0} in
    0) WORLD=virtual ;;
    *) WORLD=live ;;
esac
export WORLD
exec "$@"
