"""A switch as a process, for tests about starting, stopping and refusing to."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.ports import free_port as free_port
from topo import wait

ROOT = Path(__file__).resolve().parents[2]
# Where `make build` puts the binaries; another folder can be named for work on the switch.
BINARIES = Path(os.environ.get("VITRINE_BIN", ROOT / "build/bin"))
SWITCH = BINARIES / "vitrine-switch"
# The deadline of a switch that listens or ends within a second on a machine of its own.
PROMPT_S = 60.0


def has_landlock() -> bool:
    """Whether this kernel keeps a process to what it says it needs, all of it: since Linux 6.12."""
    create_ruleset, only_ask_version = 444, 1
    return ctypes.CDLL(None).syscall(create_ruleset, None, 0, only_ask_version) >= 6


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def refusal(*flags: str, program: Path = SWITCH) -> tuple[int, str]:
    """The exit status and the message of a switch that must not start."""
    run = subprocess.run([program, *flags], capture_output=True, text=True, timeout=PROMPT_S)
    return run.returncode, run.stderr


@contextmanager
def running(
    *flags: str, port: int, log: Path, program: Path = SWITCH, thrift: int | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A switch that listens on `port`, and on `thrift` if that is another; it is killed at the end
    if it still runs.
    """
    with log.open("wb") as output:
        process = subprocess.Popen([program, *flags], stdout=output, stderr=output)
    try:

        def listens() -> bool:
            assert process.poll() is None, f"the switch ended: {log.read_text()}"
            return answers(port) and (thrift is None or answers(thrift))

        wait.until(listens, f"the switch listening on port {port}", PROMPT_S)
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def dropin(
    *flags: str,
    port: int,
    log: Path,
    folder: Path,
    behind: Sequence[str] = (),
    thrift: int | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """The same under the name simple_switch_grpc; `behind` are flags behind `--`."""
    address = ("--grpc-server-addr", f"127.0.0.1:{port}")
    line = (*flags, "--", *address, *behind)
    with running(*line, port=port, log=log, program=link(folder), thrift=thrift) as process:
        yield process


def link(folder: Path) -> Path:
    """The switch under the other name."""
    name = folder / "simple_switch_grpc"
    if not name.exists():
        name.symlink_to(SWITCH.resolve())
    return name
