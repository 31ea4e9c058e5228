#!/usr/bin/env bash
# carry.sh BINARIES FOLDER [MODULE]: copies the switch's programs, with the identity of their sources, and
# the WebAssembly module of the one-file page into FOLDER. A machine that has them in /opt/vitrine needs
# no Rust (vm/prebuilt.sh).
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
switch_sources >"$folder/switch-sources"
