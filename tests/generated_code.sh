#!/usr/bin/env bash
# generated_code.sh update|check: the code generated from protobuf definitions, which is checked in.
# `update` generates it in place; `check` generates it elsewhere and fails where it differs.
#
# P4Runtime's definitions are those of the installed Python package `p4runtime`; vitrine.v1 is ours
# (switch/crates/messages/proto). It needs protoc, which Debian has in protobuf-compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh

command -v protoc >/dev/null || fail "protoc is missing: install the package protobuf-compiler, then run the command again."
mode=${1:-check}
proto=switch/crates/messages/proto
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checked_in=(switch/crates/messages/src/generated switch/crates/service/src/generated vitrine/v1)
mkdir -p "$work/messages" "$work/services"

build/venv/bin/python "$proto/p4runtime_descriptors.py" "$work/p4runtime.binpb"
# protoc 3.12 (Ubuntu 22.04) wants the flag for `optional`; later ones accept and ignore it.
protoc --experimental_allow_proto3_optional --include_source_info --proto_path="$proto" \
    --descriptor_set_out="$work/vitrine.binpb" --python_out="$work" "$proto"/vitrine/v1/*.proto
(cd switch && cargo run --quiet --locked --package vitrine-codegen -- \
    "$work/p4runtime.binpb" "$work/vitrine.binpb" "$work/messages" "$work/services")

generated=("$work/messages" "$work/services" "$work/vitrine/v1")
for index in 0 1 2; do
    if [ "$mode" = update ]; then
        mkdir -p "${checked_in[index]}"
        rm -f "${checked_in[index]}"/*.rs "${checked_in[index]}"/*_pb2.py
        cp "${generated[index]}"/* "${checked_in[index]}/"
    else
        diff --recursive --exclude=__pycache__ "${checked_in[index]}" "${generated[index]}" ||
            fail "${checked_in[index]} is not what the definitions generate: run tests/generated_code.sh update."
    fi
done
[ "$mode" != update ] || build/venv/bin/python -m tests.generated_code
