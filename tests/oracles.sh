#!/usr/bin/env bash
# oracles.sh record [FOLDER] | compare OLD NEW: records what the kit does as text files, and compares two
# such records byte for byte. ONLY="programs labs" takes these sections alone; docs/contributing.md has more.
# Paths are relative to the repository.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh
# The simulated controllers would take these; a record has the defaults only.
unset FROM SEED
exec build/venv/bin/python -m tests.oracles "$@"
