"""Cables into a switch: veth pairs whose far ends a test holds, to send frames and to see them."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.network import run
from topo import wait

# Of linux/if_ether.h: every protocol.
ETH_P_ALL = 3
FRAME_BYTES_MAX = 9234


class Cable:
    """A veth pair between the test and the port of a switch; no frame but the test's is on it."""

    def __init__(self, number: int) -> None:
        # What the switch gets, and what the test holds.
        self.device = f"vc{os.getpid()}-{number}"
        self.far = f"{self.device}h"

    def lay(self) -> None:
        """Makes the pair; both ends are up when this returns."""
        run(f"ip link add {self.device} type veth peer name {self.far}".split())
        for device in (self.device, self.far):
            ipv6 = Path(f"/proc/sys/net/ipv6/conf/{device}/disable_ipv6")
            if ipv6.exists():
                ipv6.write_text("1")
            run(["ip", "link", "set", device, "up"])
        self._wait_for_carrier()
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self._socket.bind((self.far, ETH_P_ALL))

    def cut(self) -> None:
        """Removes the pair, if it is still there."""
        self._socket.close()
        if Path(f"/sys/class/net/{self.device}").exists():
            run(["ip", "link", "delete", self.device])

    def set_up(self, up: bool) -> None:
        """Takes the far end down or up, and with it the carrier at the switch."""
        run(["ip", "link", "set", self.far, "up" if up else "down"])
        if up:
            self._wait_for_carrier()
        # Asking for it forgets that the device was down for a while.
        self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)

    def _wait_for_carrier(self) -> None:
        """A kernel swallows what is sent on a veth before it has noticed the carrier."""
        for device in (self.device, self.far):
            state = ["ip", "link", "show", device]
            wait.until(lambda of=state: "state UP" in run(of), f"the carrier of {device}", 30)

    def send(self, frame: bytes) -> None:
        """Hands a frame to the switch."""
        self._socket.send(frame)

    def receive(self, count: int, deadline_s: float = 30) -> list[bytes]:
        """The next frames from the switch; fewer if they do not come in time."""
        frames: list[bytes] = []
        end = time.monotonic() + deadline_s
        while len(frames) < count and (left := end - time.monotonic()) > 0:
            self._socket.settimeout(left)
            with contextlib.suppress(TimeoutError):
                frame, (_, _, kind, *_) = self._socket.recvfrom(FRAME_BYTES_MAX)
                # The socket also sees what was sent by it.
                if kind != socket.PACKET_OUTGOING:
                    frames.append(frame)
        return frames

    def waiting(self) -> list[bytes]:
        """What has come from the switch and nobody has taken."""
        frames: list[bytes] = []
        self._socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                frame, (_, _, kind, *_) = self._socket.recvfrom(FRAME_BYTES_MAX)
                if kind != socket.PACKET_OUTGOING:
                    frames.append(frame)
        return frames


@contextlib.contextmanager
def cables(*numbers: int) -> Iterator[dict[int, Cable]]:
    """Cables to the ports of these numbers, removed with the block."""
    with contextlib.ExitStack() as removing:
        laid = {number: Cable(number) for number in numbers}
        for cable in laid.values():
            cable.lay()
            removing.callback(cable.cut)
        yield laid
