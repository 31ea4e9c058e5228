#!/usr/bin/env bash
# lab.sh NAME: refuses a lab that is none, before anything is set up. A machine without Python has
# nothing set up yet, so it goes on.
set -euo pipefail

python=$(command -v python3 || true)
[ -z "$python" ] || exec "$python" -Es -m labs.names "$@"
