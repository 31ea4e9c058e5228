#!/usr/bin/env bash
# notes.sh VERSION ARCHITECTURE GLIBC: what stands in the tarball beside the programs.
set -euo pipefail
cat <<END
# Vitrine $1, programs for Linux on $2

They need the C library glibc $3 or newer, and nothing else.
Unpack this folder as /opt/vitrine, or anywhere and name it:

    export VITRINE_PREBUILT=\$PWD/vitrine-$1-linux-$2

Then \`make run\` in the kit's sources of the same version needs no Rust and builds nothing.
vitrine-$1-linux-$2-pythonX.Y.tar has the Python packages for one Python: unpacked over this folder,
set-up fetches none.
The programs also work alone: bin/vitrine-p4c --help, bin/vitrine-sim --help, bin/vitrine-switch --help.

switch-sources is the identity of the sources that they were made from.
Where the sources are others, the kit builds its own programs and does not use these.
END
