"""Ctrl-C while `make up` starts: a sentence, wherever it comes, and no traceback."""

import os
import subprocess
import sys

import pytest

from controller.toolchain import ROOT
from labs.worlds.virtual.server import BINARY

# Ctrl-C comes when the program imports a certain module: always at the same place.
INTERRUPTED = """
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
WANTED = sys.argv[1]
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == WANTED:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv[1:] = ["up", "--world", "virtual"]
runpy.run_module("vitrine", run_name="__main__")
"""


@pytest.mark.skipif(not BINARY.exists(), reason="nothing is built: run `make build`")
@pytest.mark.parametrize(
    "module",
    [
        pytest.param("grpc", id="while it is loaded"),
        pytest.param("labs.worlds.virtual.prompt", id="when its page is up"),
    ],
)
def test_ctrl_c_while_it_starts_is_a_sentence(tmp_path, module):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "VITRINE_RUN_DIR": str(tmp_path / "run")},
        timeout=120,
        check=False,
    )
    assert done.stderr == "\nvitrine: interrupted; nothing is left of the network.\n"
    assert done.returncode == 130
