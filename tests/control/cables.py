"""Cables into a switch: veth pairs whose far ends a test holds, to send frames and to see them."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.network import run
from tests.live import super_packets
from topo import wait

# Of linux/if_ether.h: every protocol.
ETH_P_ALL = 3
FRAME_BYTES_MAX = 9234
# Of frames in these tests: numbers that no daemon of the machine uses.
OUR_TYPES = range(0x8801, 0x8806)


class Cable:
    """A veth pair between the port of a switch and a test.

    The far end lies in a namespace of its own, so that no daemon of the machine takes it for a
    network; frames of other protocols than ours that still come are nobody's.
    """

    def __init__(self, number: int, namespace: str) -> None:
        # The switch's end.
        self.device = f"vc{os.getpid()}-{number}"
        self._inside = ["ip", "netns", "exec", namespace]
        self._namespace = namespace

    def lay(self) -> None:
        """Makes the pair; both ends are up when this returns."""
        pair = f"ip link add {self.device} type veth peer name far-{self.device}"
        run([*pair.split(), "netns", self._namespace])
        ipv6 = Path(f"/proc/sys/net/ipv6/conf/{self.device}/disable_ipv6")
        if ipv6.exists():
            ipv6.write_text("1")
        run(["ip", "link", "set", self.device, "up"])
        self.set_up(True)
        with super_packets.inside(self._namespace):
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self._socket.bind((f"far-{self.device}", ETH_P_ALL))

    def cut(self) -> None:
        """Removes the pair, if it is still there."""
        self._socket.close()
        if Path(f"/sys/class/net/{self.device}").exists():
            run(["ip", "link", "delete", self.device])

    def set_up(self, up: bool) -> None:
        """Takes the far end down or up, and with it the carrier at the switch."""
        far = f"far-{self.device}"
        run([*self._inside, "ip", "link", "set", far, "up" if up else "down"])
        if up:
            # A kernel swallows what is sent on a veth before it has noticed the carrier.
            for state in (
                ["ip", "link", "show", self.device],
                [*self._inside, "ip", "link", "show", far],
            ):
                wait.until(lambda of=state: "state UP" in run(of), f"carrier at {far}", 60)

    def send(self, frame: bytes) -> None:
        """Hands a frame to the switch."""
        self._socket.send(frame)

    def receive(self, count: int, deadline_s: float = 30) -> list[bytes]:
        """The next frames from the switch; fewer if they do not come in time."""
        frames: list[bytes] = []
        end = time.monotonic() + deadline_s
        while len(frames) < count and (left := end - time.monotonic()) > 0:
            self._socket.settimeout(left)
            frames += self._take() or []
        return frames

    def waiting(self) -> list[bytes]:
        """The frames that have come from the switch and have not been taken."""
        frames: list[bytes] = []
        self._socket.setblocking(False)
        while (taken := self._take()) is not None:
            frames += taken
        return frames

    def _take(self) -> list[bytes] | None:
        """One frame, if it is from the switch and ours; None if none comes."""
        try:
            frame, (_, _, kind, *_) = self._socket.recvfrom(FRAME_BYTES_MAX)
        except (TimeoutError, BlockingIOError):
            return None
        except OSError as error:
            # A device that was down for a while says so once.
            if error.errno == errno.ENETDOWN:
                return []
            raise
        # The socket also sees what was sent by it.
        is_ours = int.from_bytes(frame[12:14], "big") in OUR_TYPES
        return [frame] if is_ours and kind != socket.PACKET_OUTGOING else []


@contextlib.contextmanager
def cables(*numbers: int) -> Iterator[dict[int, Cable]]:
    """Cables to the ports of these numbers, removed with the block."""
    namespace = f"vc{os.getpid()}"
    with contextlib.ExitStack() as removing:
        run(["ip", "netns", "add", namespace])
        removing.callback(run, ["ip", "netns", "delete", namespace])
        if Path("/proc/sys/net/ipv6").exists():
            off = "net.ipv6.conf.default.disable_ipv6=1"
            run(["ip", "netns", "exec", namespace, "sysctl", "-qw", off])
        laid = {number: Cable(number, namespace) for number in numbers}
        for cable in laid.values():
            cable.lay()
            removing.callback(cable.cut)
        yield laid
