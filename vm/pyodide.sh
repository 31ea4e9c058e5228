#!/usr/bin/env bash
# pyodide.sh: puts Python for web pages (Pyodide) into build/page/pyodide, as npm has it, once. Without npm or
# a network, unpack the package somewhere else and name its folder with VITRINE_PYODIDE.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh

# The last version whose Python begins in browsers of 2023.
version=0.27.7
sum=89d5d952675eb08e11286e52c7238f1248ce71726e896db9703e73bef23dc343
target=build/page/pyodide

[ ! -e "$target/pyodide.asm.wasm" ] || exit 0
mkdir -p build/page
if [ -n "${VITRINE_PYODIDE:-}" ]; then
    ln -sfnT "$(realpath "$VITRINE_PYODIDE")" "$target"
    exit 0
fi
command -v npm >/dev/null ||
    fail "pages of exercises need Pyodide $version: install npm, which gets it, or name the folder of the unpacked package with VITRINE_PYODIDE."
step "Getting Python for web pages (Pyodide $version, 5 MB)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
archive=$folder/$(cd "$folder" && npm pack --silent "pyodide@$version") ||
    fail "npm does not get pyodide@$version: try again when the network is there, or name the folder of the unpacked package with VITRINE_PYODIDE."
echo "$sum  $archive" | sha256sum --check --quiet ||
    fail "pyodide@$version is not what it was: its SHA-256 is not the one in vm/pyodide.sh."
tar xzf "$archive" -C "$folder"
rm -rf "$target"
mv "$folder/package" "$target"
