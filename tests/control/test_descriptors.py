"""A switch without descriptors says so, and goes on by itself when there are some again."""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from controller.p4info import P4Info
from controller.session import Session
from tests.control.conftest import DEVICE_ID, Compiled, RunningSwitch
from tests.control.flow import Flow
from tests.control.test_robustness import forward
from topo import wait

DEADLINE_S = 30
# Descriptors that clients find at first.
SPARE = 8
SAID = "too many files are open"


@contextmanager
def no_descriptors(switch: RunningSwitch) -> Iterator[None]:
    """Clients take every descriptor that the switch may have, until the block ends."""
    pid = switch.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    # The limit is a number that no descriptor may reach; it has to poll as many as it has.
    numbers = [int(it.name) for it in Path(f"/proc/{pid}/fd").iterdir()]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (max(numbers) + SPARE, before[1]))
    with ExitStack() as clients:
        try:

            def are_gone() -> bool:
                host, port = switch.address.split(":")
                clients.enter_context(socket.create_connection((host, int(port))))
                return f"no controller can connect: {SAID}" in switch.log.read_text()

            wait.until(are_gone, "the line in the log", DEADLINE_S)
            yield
        finally:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


def test_a_controller_that_finds_no_descriptor_gets_in_once_there_is_one(cabled_switch):
    with no_descriptors(cabled_switch):
        pass
    with Session.connect(cabled_switch.address, device_id=DEVICE_ID, election_id=1):
        # Those who waited have been let in, and went.
        pass


def test_a_device_that_returns_while_there_is_no_descriptor_is_a_port_again_later(
    cabled, cabled_switch, driven: Compiled
):
    with Session.connect(cabled_switch.address, device_id=DEVICE_ID, election_id=1) as session:
        session.load(P4Info.load(driven.p4info), driven.json.read_bytes())
        session.insert([forward(port) for port in (1, 2, 3)])
        with Flow(cabled[1], cabled[2], to=2):
            pass
        cabled[2].cut()
        # The device's descriptors are free again, and count among those that may not be opened.
        wait.until(lambda: _gone(cabled_switch, cabled[2].device), "that it is missed", DEADLINE_S)
        with no_descriptors(cabled_switch):
            cabled[2].lay()
            wait.until(
                lambda: f"{SAID} for `{cabled[2].device}`" in cabled_switch.log.read_text(),
                "the line in the log",
                DEADLINE_S,
            )
        frame = (2).to_bytes(6, "big") + bytes(6) + b"\x88\x02" + bytes(46)

        def arrives() -> bool:
            cabled[1].send(frame)
            return bool(cabled[2].receive(1, deadline_s=0.2))

        wait.until(arrives, "the port's recovery", DEADLINE_S)


def _gone(switch: RunningSwitch, device: str) -> bool:
    """Whether the log says that a device has vanished."""
    return any(device in line and "gone" in line for line in switch.log.read_text().splitlines())
