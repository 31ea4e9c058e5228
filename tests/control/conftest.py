"""A real vitrine-switch without network devices, loaded with the program of the server's own tests.

The switch needs no root: it listens on a free loopback port and has no interfaces.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from topo import wait
from topo.process import Identity

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "switch/crates/control/tests/support/everything.p4"
# Where `make build` puts the binaries; another folder can be named for work on the switch.
BINARIES = Path(os.environ.get("VITRINE_BIN", ROOT / "build/bin"))
DEVICE_ID = 1


@dataclass(frozen=True)
class Compiled:
    """A program as files, as P4Runtime's tools take it."""

    json: Path
    p4info: Path


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    folder = tmp_path_factory.mktemp("everything")
    made = Compiled(folder / "everything.json", folder / "everything.txtpb")
    command = [BINARIES / "vitrine-p4c", "-o", made.json, "--p4runtime-files", made.p4info, PROGRAM]
    subprocess.run(command, check=True)
    return made


@pytest.fixture
def switch_address(tmp_path: Path) -> Iterator[str]:
    """The address of a switch that has just been started and has no program."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    command = [BINARIES / "vitrine-switch", "--no-p4", "--device-id", str(DEVICE_ID)]
    command += ["--grpc", address, "--cpu-port", "510"]
    log = tmp_path / "switch.log"
    with log.open("w") as output:
        started = subprocess.Popen(command, stdout=output, stderr=output)

    def answers() -> bool:
        assert started.poll() is None, f"the switch ended: {log.read_text()}"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait.until(answers, f"the switch listening on {address}", deadline_s=10)
    yield address
    identity = Identity.of(started.pid)
    started.terminate()
    assert started.wait(timeout=5) == 0, f"the switch did not end well: {log.read_text()}"
    assert identity is not None and not identity.is_alive()
