#!/usr/bin/env bash
# carry.sh BINARIES FOLDER [MODULE]: puts the switch's programs, with the identity of the sources they were
# made from, into FOLDER, the Python modules of the messages, and the module of the page that is one file.
# A machine that has them in /opt/vitrine needs neither Rust nor protoc (vm/prebuilt.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/sources.sh

binaries=$1
folder=$2
module=${3:-}
[ -x "$binaries/vitrine" ] || fail "$binaries/vitrine is missing: run make build first."
mkdir -p "$folder/bin"
cp -L "$binaries/vitrine" "$folder/bin/"
for program in vitrine-p4c vitrine-sim vitrine-switch; do
    ln -sfn vitrine "$folder/bin/$program"
done
[ -z "$module" ] || cp "$module" "$folder/page.wasm"
(cd switch/crates/messages/proto && printf '%s\n' p4/tmp/*.proto vitrine/v1/*.proto) |
    xargs vm/protoc.sh "$(realpath -m "$folder")/python"
switch_sources >"$folder/switch-sources"
