#!/usr/bin/env bash
# Makes build/venv: a virtual environment of the distribution's own Python, which sees the
# distribution's Mininet, with the pinned packages of vm/requirements.txt and vm/overrides.txt, and the kit itself.
# A stamp holds what the environment was made from; while that is unchanged, nothing is done.
set -euo pipefail
cd "$(dirname "$0")/.."
. vm/say.sh
. vm/distribution.sh

python=/usr/bin/python3
venv=build/venv
stamp=$venv/made-from

dry_run || "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "$python is $("$python" --version 2>&1), and the kit needs Python 3.10 or newer: use Debian 12, Ubuntu 22.04 or newer."

made_from=$("$python" --version 2>/dev/null; cat vm/requirements.txt vm/overrides.txt vm/messages.py pyproject.toml vm/python.sh; pwd)
# made: whether the environment is there and made from what is wanted now.
made() {
    [ "$(cat "$stamp" 2>/dev/null)" = "$made_from" ]
}
if is_there made; then exit 0; fi
if would "install the $(grep -c '^[^#]' vm/requirements.txt) Python packages of vm/requirements.txt into $venv"; then exit 0; fi

# A lab machine carries the packages, so that it needs no network; those of another Python are of no use.
wheels=${VITRINE_PREBUILT:-/opt/vitrine}/wheels
abi=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])' 2>/dev/null || true)
if compgen -G "$wheels/numpy-*-$abi-*.whl" >/dev/null; then
    export PIP_NO_INDEX=1 PIP_FIND_LINKS=$wheels
fi

# pip brings a list of authorities of its own. The distribution's list holds these too, and those that
# an institution added because its network looks into encrypted connections.
authorities=/etc/ssl/certs/ca-certificates.crt
[ ! -r "$authorities" ] || export PIP_CERT=${PIP_CERT:-$authorities}

# A half-made environment has no stamp, so an interrupted set-up begins anew.
step "Installing Python packages into $venv (once, about half a minute)"
rm -rf "$venv"
make_environment() {
    "$python" -m venv --system-site-packages "$venv" &&
        "$venv/bin/pip" install --disable-pip-version-check --requirement vm/requirements.txt &&
        "$venv/bin/pip" install --disable-pip-version-check --no-deps --requirement vm/overrides.txt &&
        PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python "$venv/bin/python" vm/messages.py &&
        "$venv/bin/pip" install --disable-pip-version-check --no-build-isolation --no-deps --editable . &&
        make_p4_tmp
}

# Older controllers import p4.tmp.p4config_pb2, which the package p4runtime no longer has.
make_p4_tmp() {
    local package
    package=$("$venv/bin/python" -c 'import p4; print(p4.__path__[0])') &&
        mkdir -p "$package/tmp" && touch "$package/tmp/__init__.py" &&
        cp guests/p4config_pb2.py "$package/tmp/"
}
quietly build/log/python.log make_environment ||
    fail "the Python packages could not be installed (see build/log/python.log): check the network, then run the command again."
echo "$made_from" >"$stamp"
