"""How the way to a device is written: HOST:PORT or unix:FILE, and behind a slash which device.

Most addresses are those of one device and name none; all routers in virtual time share one:
`127.0.0.1:9559/2`. Routers of the kit answer at Unix sockets, where the kernel says who comes, and
at ports of the machine's own address with `--grpc tcp`: everybody on the machine reaches those.
"""

from __future__ import annotations

import os
import re
import uuid
from enum import Enum
from pathlib import Path

from controller.errors import ConnectError

# The port IANA gave to P4Runtime.
DEFAULT_ADDRESS = "127.0.0.1:9559"
# sockaddr_un has room for 108 bytes with a zero behind them.
SOCKET_PATH_BYTES_MAX = 107
# The suffix of a socket's file, which marks an address as a device's and no file's.
SOCKET_SUFFIX = ".sock"
_UNIX = "unix:"
_AT_SOCKET = re.compile(rf"({_UNIX}.+{re.escape(SOCKET_SUFFIX)})/(\d+)")


class Way(Enum):
    """How the routers of a network are reached."""

    SOCKET = "unix"
    TCP = "tcp"

    @classmethod
    def named(cls, name: str | None) -> Way:
        """The way of that name; sockets without one."""
        try:
            return cls(name or cls.SOCKET.value)
        except ValueError:
            raise ConnectError(
                f"--grpc {name}: routers answer at Unix sockets, or with --grpc {cls.TCP.value} at "
                "ports that every user of this machine can reach."
            ) from None


def fits(path: Path) -> bool:
    """Whether the kernel takes a socket of that name."""
    return len(os.fsencode(path)) <= SOCKET_PATH_BYTES_MAX


def unused_socket(folder: Path, kind: str) -> Path:
    """An unused name for a socket, in a folder whose own name leaves room for it, or in /tmp.

    Only its user may open the socket, so a folder that is writable for all will do.
    """
    name = f"{kind}-{uuid.uuid4().hex}{SOCKET_SUFFIX}"
    return folder / name if fits(folder / name) else Path("/tmp") / name


def at_socket(path: Path) -> str:
    """The address of a socket."""
    return f"{_UNIX}{path}"


def socket_of(address: str) -> Path | None:
    """The socket's file, if the address is that of one."""
    place, _ = parted(address)
    return Path(place.removeprefix(_UNIX)) if place.startswith(_UNIX) else None


def parted(address: str) -> tuple[str, int | None]:
    """The address as gRPC takes it, and which of the devices that answer there is meant."""
    if address.startswith(_UNIX):
        found = _AT_SOCKET.fullmatch(address)
        # Any other file has slashes of its own.
        return (found[1], int(found[2])) if found else (address, None)
    place, slash, device = address.partition("/")
    if slash and not device.isdigit():
        raise ConnectError(f"{address!r} is no address: write HOST:PORT, or HOST:PORT/DEVICE.")
    return place, int(device) if slash else None
