#!/usr/bin/env bash
# Says in one sentence why live networks cannot work here, before anything is installed or built.
# Live runs need root (or sudo, to become root) and network namespaces.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    fail "networks of real hosts need root, and there is no sudo here: become root and run the command again."
fi

if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
    # Without a terminal sudo could not ask, and would fail later, in the middle of something.
    [ -t 0 ] || fail "sudo wants a password and there is no terminal to ask for it: become root, or run 'sudo -v' first."
    step "Networks of real hosts need root; sudo may ask for your password."
    sudo -v || fail "sudo did not grant root: become root and run the command again."
fi

# Mininet's steps for each host: a namespace for its network, and one for its view of /sys.
if ! reason=$(vm/as_root.sh unshare --net --mount mount -t sysfs sysfs /sys 2>&1); then
    # Only the first line, and of that the reason without the names of the tools.
    reason=${reason%%$'\n'*}
    fail "this machine forbids network namespaces (${reason##*: }): use a virtual machine, or a container started with --privileged."
fi
