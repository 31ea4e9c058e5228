#!/usr/bin/env bash
# in_world.sh COMMAND...: runs a command for the world that WORLD names, or that this machine can do
# (vm/worlds.sh): as root for the live one, as whoever we are for the virtual one.
set -euo pipefail
. "$(dirname "$0")/say.sh"
. "$(dirname "$0")/worlds.sh"

choose_world
[ "$WORLD" != virtual ] || exec "$@"
exec vm/as_root.sh "$@"
