#!/usr/bin/env bash
# messages.sh FOLDER PROTO...: makes the Python modules of message files (by their paths below
# switch/crates/messages/proto) in FOLDER. Those that came along with the switch's programs
# (vm/carry.sh) serve while they are of these sources, and protoc is not needed. Beside each module lies
# what it was made from, by which vm/modules.sh and `vitrine` tell whether it is of today's sources.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
shift
carried=${VITRINE_PREBUILT:-/opt/vitrine}/python
for file in "$@"; do
    module=${file%.proto}_pb2.py
    if [ -r "$carried/$module" ] && vm/prebuilt.sh; then
        mkdir -p "$folder/$(dirname "$file")"
        cp "$carried/$module" "$folder/$module"
    else
        vm/protoc.sh "$folder" "$file"
    fi
    cp "switch/crates/messages/proto/$file" "$folder/$file"
done
