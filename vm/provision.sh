#!/usr/bin/env bash
# Turns a fresh Ubuntu 22.04 or 24.04 or Debian 12 or 13 (x86-64, arm64) into a lab machine: the kit
# built, Mininet, iperf3, Wireshark with the kit's dissectors, p4runtime-shell, and the P4 project's p4c
# and simple_switch where its package repository can be reached. Run it in a clone of the kit, as root
# or with sudo; the virtual machine, the image and the container all run this same script.
#
#   vm/provision.sh                                        does it
#   vm/provision.sh --dry-run                              lists the remaining steps only
#   vm/provision.sh --dry-run OS-RELEASE [ARCHITECTURE]    the same for a fresh machine, given by
#                                                          its /etc/os-release; amd64 or arm64
#
# Safe to run again: finished steps are skipped. Versions: vm/versions.env. Settings:
# WIRESHARK=tshark (no window), P4LANG=no (without the P4 project's tools), RUST_INSTALL=no (ask).
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

case ${1:-} in
    "") ;;
    --dry-run)
        export VITRINE_DRY_RUN=yes
        if [ -n "${2:-}" ]; then
            [ -r "$2" ] || fail "there is no file $2: name the other machine's os-release, or leave it out for this machine."
            export VITRINE_OS_RELEASE=$2 VITRINE_FRESH=yes
            [ -z "${3:-}" ] || export VITRINE_ARCHITECTURE=$3
        fi
        ;;
    --help)
        sed -n '2,/^set /{s/^# \{0,1\}//;/^set /!p}' "$0"
        exit 0
        ;;
    *) fail "$1 is no option: vm/provision.sh [--dry-run [OS-RELEASE [ARCHITECTURE]]]." ;;
esac
. vm/distribution.sh
case $architecture in
    amd64 | arm64) ;;
    *) fail "this machine's processor is '$architecture', and the kit is for amd64 (x86-64) and arm64." ;;
esac
! dry_run || echo "To become a lab machine, this $distribution on $architecture would"

# A machine made for the labs answers vm/rust.sh's question with yes.
export RUST_INSTALL=${RUST_INSTALL:-yes}

vm/setup.sh
vm/tools.sh
[ "${P4LANG:-yes}" = no ] || vm/p4lang.sh
! dry_run || exit 0
step "This is a lab machine now: make run conducts the first lab"
