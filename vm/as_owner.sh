#!/usr/bin/env bash
# as_owner.sh COMMAND...: runs a command about the network that is up: as root where it is a live one, or
# one has left something behind, both of which a record tells (topo/record.py); else as whoever we are.
set -euo pipefail
[ ! -e "${VITRINE_RUN_DIR:-/run/vitrine}/network.json" ] || exec vm/as_root.sh "$@"
exec "$@"
