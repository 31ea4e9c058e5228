#!/usr/bin/env bash
# as_root.sh COMMAND...: runs a command as root, through sudo where we are not root already.
# sudo drops the environment; what a desktop and the set-up need is handed over by name.
set -euo pipefail

# ethtool and others live in sbin, which is not on every user's path.
export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
# Root would leave its caches in folders of the user, who could not remove them.
export PYTHONDONTWRITEBYTECODE=1

[ "$(id -u)" -ne 0 ] || exec "$@"

settings=()
while IFS='=' read -r -d '' name value; do
    case $name in
        DISPLAY | WAYLAND_DISPLAY | XAUTHORITY | XDG_RUNTIME_DIR | CI | TERM | PATH | PYTHONDONTWRITEBYTECODE | VITRINE_*)
            settings+=("$name=$value") ;;
    esac
done < <(env -0)
exec sudo env "${settings[@]}" "$@"
