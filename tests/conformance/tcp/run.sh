#!/usr/bin/env bash
# run.sh: our hosts' TCP beside Linux's. CELLS chooses cells by words of their names; LIVE=1 measures
# Linux's again where runs are missing, which needs root.
set -euo pipefail
cd "$(dirname "$0")/../../.."

read -ra cells <<<"${CELLS:-}"
if [ "${LIVE:-}" = 1 ]; then
    exec vm/as_root.sh build/venv/bin/python -m tests.conformance.tcp --live "${cells[@]}"
fi
exec build/venv/bin/python -m tests.conformance.tcp "${cells[@]}"
