#!/usr/bin/env bash
# elsewhere.sh: compiler and simulator know nothing of Linux, so they compile for macOS, too. They are
# checked, not linked: stand-ins for compiler and archiver leave out the C code of others' crates.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh
target=x86_64-apple-darwin
# Without rustup only the target of this machine is known.
rustup target list --installed 2> /dev/null | grep -qx "$target" || {
    echo "left out: \`rustup target add $target\` gets what a check for macOS wants"
    exit 0
}
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
cat > "$tools/cc" << 'END'
#!/bin/sh
while [ $# -gt 0 ]; do
    [ "$1" != -o ] || : > "$2"
    shift
done
END
chmod +x "$tools/cc"
cd switch
CC_x86_64_apple_darwin=$tools/cc AR_x86_64_apple_darwin=$(command -v true) \
    cargo check --quiet --locked --target "$target" -p vitrine
echo "compiler and simulator compile for macOS"
