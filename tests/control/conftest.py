"""A real vitrine-switch, without network devices or with cables that tests hold the far ends of.

Without devices the switch needs no root: it listens on a free loopback port.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.chaos.memory import Bound
from tests.control.cables import Cable, cables
from tests.ports import free_port
from topo import preflight, wait
from topo.errors import MachineError
from topo.process import Identity

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "switch/crates/service/tests/support/everything.p4"
# Where `make build` puts the binaries; another folder can be named for work on the switch.
BINARIES = Path(os.environ.get("VITRINE_BIN", ROOT / "build/bin"))
DEVICE_ID = 1
CPU_PORT = 510


@dataclass(frozen=True)
class Compiled:
    """A program as files, as P4Runtime's tools take it."""

    json: Path
    p4info: Path


@dataclass
class RunningSwitch:
    """A switch that answers."""

    address: str
    process: subprocess.Popen[bytes]
    log: Path

    def end(self) -> None:
        """Asks it to end; every packet must be accounted for."""
        self.process.terminate()
        assert self.process.wait(timeout=30) == 0, f"it did not end well: {self.log.read_text()}"
        assert "accounted_for=true" in self.log.read_text()


def compile_program(source: Path, folder: Path) -> Compiled:
    """The result of p4c for a program."""
    made = Compiled(folder / f"{source.stem}.json", folder / f"{source.stem}.txtpb")
    command = [BINARIES / "vitrine-p4c", "-I", ROOT / "p4src/include", "-o", made.json]
    subprocess.run([*command, "--p4runtime-files", made.p4info, source], check=True)
    return made


@contextlib.contextmanager
def running_switch(
    folder: Path, *flags: str, address: str | None = None, bound: Bound | None = None
) -> Iterator[RunningSwitch]:
    """A switch that has just been started and has no program; on a free port unless told, and with
    bounded memory if there is a bound."""
    if address is None:
        address = f"127.0.0.1:{free_port()}"
    port = int(address.rpartition(":")[2])
    command = [str(BINARIES / "vitrine-switch"), "--no-p4", "--device-id", str(DEVICE_ID)]
    command += ["--grpc", address, "--cpu-port", str(CPU_PORT), *flags]
    if bound is not None:
        command = bound.around(command)
    log = folder / "switch.log"
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    switch = RunningSwitch(address, process, log)

    def answers() -> bool:
        assert process.poll() is None, f"the switch ended: {log.read_text()}"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    identity = Identity.of(process.pid)
    try:
        wait.until(answers, f"the switch listening on {address}", deadline_s=30)
        yield switch
        switch.end()
    finally:
        # Whatever a test did to it, nothing of it stays.
        if process.poll() is None:
            process.kill()
            process.wait()
    assert identity is not None and not identity.is_alive()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """The program of the server's own tests: one of each thing that P4Runtime can name."""
    return compile_program(PROGRAM, tmp_path_factory.mktemp("everything"))


@pytest.fixture(scope="session")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """The program whose frames say what befell them."""
    source = Path(__file__).parent / "driven.p4"
    return compile_program(source, tmp_path_factory.mktemp("driven"))


@pytest.fixture
def switch_address(tmp_path: Path) -> Iterator[str]:
    """The address of a switch that has just been started, without devices and program."""
    with running_switch(tmp_path) as switch:
        yield switch.address


@pytest.fixture
def cabled() -> Iterator[dict[int, Cable]]:
    """Cables to ports 1 to 3."""
    try:
        preflight.check_machine()
    except MachineError as error:
        pytest.skip(str(error))
    with cables(1, 2, 3) as laid:
        yield laid


@pytest.fixture
def cabled_switch(tmp_path: Path, cabled: dict[int, Cable]) -> Iterator[RunningSwitch]:
    """A switch without program, with a cable at ports 1 to 3."""
    flags = [word for port, it in cabled.items() for word in ("-i", f"{port}@{it.device}")]
    with running_switch(tmp_path, *flags) as switch:
        yield switch
