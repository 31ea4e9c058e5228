#!/usr/bin/env bash
# Makes what Python imports that is not in the repository: build/venv, and the messages of vitrine.v1 in
# build/python. Those are made again where their sources are others, so that a kit that was pulled anew
# answers before it is built again.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

vm/python.sh
if dry_run; then exit 0; fi

proto=switch/crates/messages/proto
for file in "$proto"/vitrine/v1/*.proto; do
    cmp -s "$file" "build/python/${file#"$proto/"}" || vm/messages.sh build/python "${file#"$proto/"}"
done
