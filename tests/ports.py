"""Free ports of 127.0.0.1, for servers that need an address.

The kernel gives a free port to anybody who asks, so one that was free a moment ago may be another
test's, or a connection's, before the server takes it. These ports are below those of connections
(net.ipv4.ip_local_port_range), and each test process has a block of its own: it holds the block's
first port for as long as it runs.
"""

import itertools
import socket
from collections.abc import Iterator

FIRST, END, BLOCK = 10_000, 32_000, 200


def _block() -> Iterator[int]:
    """The unused ports of a block, over and over again."""
    for first in range(FIRST, END, BLOCK):
        try:
            # Held until this process ends.
            _guards.append(socket.create_server(("127.0.0.1", first)))
        except OSError:
            continue
        yield from itertools.cycle(range(first + 1, first + BLOCK))
    raise RuntimeError("every block of ports is held by another process")


_guards: list[socket.socket] = []
_ports = _block()


def free_port() -> int:
    """A port that no other test process uses, and that this one has not used for a while."""
    for port in itertools.islice(_ports, BLOCK):
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    raise RuntimeError("every port of this process's block is in use")
