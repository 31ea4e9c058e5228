#!/usr/bin/env bash
# protoc.sh FOLDER PROTO...: generates the Python modules of message files in FOLDER.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
shift
mkdir -p "$folder"
# The flag is what protoc 3.12 (Ubuntu 22.04) wants; later ones accept and ignore it.
protoc --experimental_allow_proto3_optional -I switch/crates/messages/proto --python_out="$folder" "$@"
