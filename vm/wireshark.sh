#!/usr/bin/env bash
# wireshark.sh: puts the kit's dissectors where Wireshark and tshark of this user look for them.
# Where neither is installed, it installs tshark, which needs no screen.
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

install_tshark() {
    # Whether users may capture: only root does here, and the labs run as root.
    echo "wireshark-common wireshark-common/install-setuid boolean false" |
        vm/as_root.sh debconf-set-selections &&
        vm/as_root.sh env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
        vm/as_root.sh env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends tshark
}
if ! dry_run && ! command -v tshark >/dev/null && ! command -v wireshark >/dev/null; then
    step "Installing tshark; 'apt install wireshark' brings the window, too"
    quietly build/log/wireshark.log install_tshark ||
        fail "neither wireshark nor tshark is installed, and tshark could not be (see build/log/wireshark.log): install one of them, then run the command again."
fi

# tshark knows the folder; where only Wireshark is installed it is the folder of both.
folder=$(tshark -G folders 2>/dev/null | sed -n 's/^Personal Lua Plugins:[[:space:]]*//p') || true
folder=${folder:-$HOME/.local/lib/wireshark/plugins}
if is_there copied "$folder" || would "put the kit's dissectors where Wireshark finds them"; then exit 0; fi
mkdir -p "$folder"
cp controller/telemetry/wireshark/*.lua "$folder/"
step "Wireshark reads INT and telemetry reports from now on (dissectors in $folder)"
