"""A switch whose door for bmv2's runtime interface is open, and what goes through it.

With `ORACLE=<folder of simple_switch>` the tests ask the original instead, to see what is the same.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.process.switch import BINARIES, ROOT, SWITCH, free_port, running

ORACLE = os.environ.get("ORACLE")
PROGRAM = Path(ORACLE) / "simple_switch" if ORACLE else SWITCH
ours_alone = pytest.mark.skipif(bool(ORACLE), reason="the original differs: docs/thrift.md")

GUESTS = ROOT / "guests"
CLI = GUESTS / "simple_switch_CLI"
if str(GUESTS) not in sys.path:
    # As its users' PYTHONPATH does.
    sys.path.insert(0, str(GUESTS))

import bmpy_utils  # noqa: E402
from bm_runtime.simple_pre_lag import SimplePreLAG  # noqa: E402
from bm_runtime.standard import Standard  # noqa: E402
from sswitch_runtime import SimpleSwitch  # noqa: E402

SERVICES = [
    ("standard", Standard.Client),
    ("simple_pre_lag", SimplePreLAG.Client),
    ("simple_switch", SimpleSwitch.Client),
]


class Door(NamedTuple):
    """An open door, and a client for each service."""

    port: int
    grpc_port: int
    standard: Any
    multicast: Any
    switch: Any

    def cli(self, *lines: str) -> str:
        """simple_switch_CLI's output for these lines."""
        run = subprocess.run(
            [sys.executable, CLI, "--thrift-port", str(self.port)],
            input="\n".join(lines) + "\n",
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert run.returncode == 0, run.stderr
        return run.stdout


def compiled(program: Path, folder: Path) -> Path:
    """The program as BMv2 JSON in this folder."""
    made = folder / f"{program.stem}.json"
    flags = ["-I", ROOT / "p4src/include", program, "-o", made]
    subprocess.run([BINARIES / "vitrine-p4c", *flags], check=True, timeout=60)
    return made


@contextmanager
def door(json: Path, folder: Path, *flags: str) -> Iterator[Door]:
    """A switch that runs this program, with its door open."""
    port, grpc_port = free_port(), free_port()
    beside = ("--grpc", f"127.0.0.1:{grpc_port}")
    if ORACLE:
        beside = ("--notifications-addr", f"ipc://{folder}/notifications.ipc")
    line = ("--thrift-port", str(port), *beside, *flags, str(json))
    if ORACLE:
        line = (*line, "--", "--enable-swap")
    with running(*line, port=port, log=folder / "switch.log", program=PROGRAM):
        clients = bmpy_utils.thrift_connect("127.0.0.1", port, SERVICES)
        yield Door(port, grpc_port, *clients)
