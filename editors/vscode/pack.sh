#!/usr/bin/env bash
# Packs the extension: out/vitrine-p4.vsix, which `code --install-extension` takes. Needs npm, for
# the library that speaks the protocol on the side of VS Code; the versions are those of
# package-lock.json.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
out=$here/../../out
mkdir -p "$out"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp package.json package-lock.json extension.js "$folder"
cd "$folder"
npm ci --ignore-scripts --silent
node_modules/.bin/esbuild extension.js --bundle --platform=node --external:vscode --minify \
    --legal-comments=inline --log-level=warning --outfile=packed.js
python3 "$here/pack.py" "$here" packed.js "$out/vitrine-p4.vsix"
