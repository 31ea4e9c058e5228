#!/usr/bin/env bash
# help.sh MAKEFILE: lists the targets of a Makefile with the comments behind them.
set -euo pipefail
sed -n 's/^\([a-z][a-z0-9-]*\):[^#]*## \(.*\)/\1\t\2/p' "$1" |
    while IFS=$'\t' read -r target text; do printf '  make %-15s %s\n' "$target" "$text"; done
