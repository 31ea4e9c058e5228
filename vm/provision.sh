#!/usr/bin/env bash
# Turns a fresh Ubuntu 22.04 or 24.04 or Debian 12 (x86-64, arm64) into a lab machine: the kit built,
# Mininet, iperf3, Wireshark with the kit's dissectors, p4runtime-shell, and the P4 project's p4c and
# simple_switch where its package repository can be reached. Run it in a clone of the kit, as root or
# with sudo; the virtual machine, the image and the container all run this same script.
#
# Safe to run again: what is there is left alone. Versions: vm/versions.env. Settings:
# WIRESHARK=tshark (no window), P4LANG=no (without the P4 project's tools), RUST_INSTALL=no (ask).
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

# A machine that is made for the labs is the yes that vm/rust.sh asks for.
export RUST_INSTALL=${RUST_INSTALL:-yes}

vm/setup.sh
vm/tools.sh
[ "${P4LANG:-yes}" = no ] || vm/p4lang.sh
step "This is a lab machine now: make run conducts the first lab"
