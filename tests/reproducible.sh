#!/usr/bin/env bash
# reproducible.sh: the last commit makes the same programs in two folders, byte by byte. They are built
# whole and twice, which takes many minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/rust.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Names of different lengths, so that nothing is the same by chance.
for folder in one another-and-longer; do
    step "Building the programs in a folder called $folder"
    git clone --quiet . "$work/$folder"
    (cd "$work/$folder/switch" && RUSTC_WRAPPER=$work/$folder/vm/rustc.sh \
        cargo build --quiet --release --locked --package vitrine)
done
one=$work/one/switch/target/release/vitrine
another=$work/another-and-longer/switch/target/release/vitrine
sha256sum "$one" "$another"
cmp "$one" "$another" || fail "two builds of the same commit differ."
if grep --quiet --text --fixed-strings "$work" "$one"; then
    fail "the programs name the folder that they were built in."
fi
