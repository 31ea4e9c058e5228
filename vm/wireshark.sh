#!/usr/bin/env bash
# wireshark.sh: puts the kit's dissectors where Wireshark and tshark of this user look for them.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

command -v tshark >/dev/null || command -v wireshark >/dev/null ||
    fail "neither wireshark nor tshark is installed: install one of them, for example with 'apt install tshark', then run the command again."

# tshark knows the folder; where only Wireshark is installed it is the folder of both.
folder=$(tshark -G folders 2>/dev/null | sed -n 's/^Personal Lua Plugins:[[:space:]]*//p')
folder=${folder:-$HOME/.local/lib/wireshark/plugins}
mkdir -p "$folder"
cp controller/telemetry/wireshark/*.lua "$folder/"
step "Wireshark reads INT and telemetry reports from now on (dissectors in $folder)"
