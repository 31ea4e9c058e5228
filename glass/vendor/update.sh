#!/usr/bin/env bash
# Copies into this folder what the page carries of others, in the versions of package-lock.json.
# Only who changes a version needs this, and npm: the copies are part of the repository.
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp package.json package-lock.json "$folder"
(cd "$folder" && npm ci --ignore-scripts --silent)
cp "$folder/node_modules/uplot/dist/uPlot.esm.js" "$folder/node_modules/uplot/dist/uPlot.min.css" .
cp "$folder/node_modules/uplot/LICENSE" uPlot.LICENSE
