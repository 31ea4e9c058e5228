#!/usr/bin/env bash
# wireshark.sh: puts the kit's dissectors where Wireshark and tshark of this user look for them.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/distribution.sh

# copied FOLDER: whether the dissectors are there as they are here.
copied() {
    local dissector
    for dissector in controller/telemetry/wireshark/*.lua; do
        cmp --silent "$dissector" "$1/${dissector##*/}" || return 1
    done
}

dry_run || command -v tshark >/dev/null || command -v wireshark >/dev/null ||
    fail "neither wireshark nor tshark is installed: install one of them, for example with 'apt install tshark', then run the command again."

# tshark knows the folder; where only Wireshark is installed it is the folder of both.
folder=$(tshark -G folders 2>/dev/null | sed -n 's/^Personal Lua Plugins:[[:space:]]*//p')
folder=${folder:-$HOME/.local/lib/wireshark/plugins}
if is_there copied "$folder" || would "put the kit's dissectors where Wireshark finds them"; then exit 0; fi
mkdir -p "$folder"
cp controller/telemetry/wireshark/*.lua "$folder/"
step "Wireshark reads INT and telemetry reports from now on (dissectors in $folder)"
