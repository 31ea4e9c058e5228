#!/usr/bin/env bash
# Copies into this folder what the page carries of others, in the versions of package-lock.json:
# uPlot as it is, CodeMirror's packages bundled into one module.
# Only who changes a version needs this, and npm: the copies are part of the repository.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp package.json package-lock.json codemirror.entry.js "$folder"
cd "$folder"
npm ci --ignore-scripts --silent
cp node_modules/uplot/dist/uPlot.esm.js node_modules/uplot/dist/uPlot.min.css "$here"
cp node_modules/uplot/LICENSE "$here/uPlot.LICENSE"
node_modules/.bin/esbuild codemirror.entry.js --bundle --format=esm --minify --legal-comments=none \
    --log-level=warning --outfile="$here/codemirror.js"
# What the bundle is made of, each with its licence.
for package in $(node_modules/.bin/esbuild codemirror.entry.js --bundle --format=esm --metafile=meta.json \
    --log-level=error --outfile=unused.js &&
    node -p 'Object.keys(require("./meta.json").inputs).flatMap((name) => name.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []).filter((name, at, all) => all.indexOf(name) === at).sort().join(" ")'); do
    printf '%s %s\n\n' "$package" "$(node -p "require('./node_modules/$package/package.json').version")"
    cat "node_modules/$package/LICENSE"
    echo
done > "$here/codemirror.LICENSE"
