#!/usr/bin/env bash
# Everything `make test` runs once the machine is set up, the cheapest checks first.
set -euo pipefail
cd "$(dirname "$0")"
./lint.sh
./rust.sh
./python.sh
