#!/usr/bin/env bash
# takes.sh NAME... [-- NAME...]: refuses what stands behind a target of the Makefile and is none of
# these, before anything is set up. A machine without Python has nothing set up yet, so it goes on.
set -euo pipefail

python=$(command -v python3 || true)
[ -z "$python" ] || exec "$python" -I controller/settings.py "$@"
