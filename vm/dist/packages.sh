#!/usr/bin/env bash
# packages.sh ARCHIVE NAME: the Python packages of vm/requirements.txt and vm/overrides.txt as ARCHIVE,
# which unpacks over the folder NAME that the tarball of the programs makes. They are for this machine's Python and processor: what
# another Python needs beside the pinned ones, pip cannot say.
set -euo pipefail
cd "$(dirname "$0")/../.."
. vm/say.sh

archive=$1
name=$2
work=build/dist/packages
rm -rf "$work"
mkdir -p "$work/$name/wheels"
fetch_wheels() {
    local list
    for list in "vm/requirements.txt" "vm/overrides.txt --no-deps"; do
        # shellcheck disable=SC2086 # A file's name and an option.
        build/venv/bin/pip download --disable-pip-version-check --only-binary=:all: \
            --dest "$work/$name/wheels" --requirement $list || return
    done
}
quietly build/log/packages-dist.log fetch_wheels ||
    fail "the Python packages could not be fetched (see build/log/packages-dist.log): check the network, then run the command again."
# Wheels are compressed already. Set-up may do with them what it does with fetched ones: no owner.
tar --create --file "$archive" --directory "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 "$name"
