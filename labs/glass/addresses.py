"""Where a page can be reached: addresses of this machine alone, and those that others can use."""

from __future__ import annotations

import contextlib
import fcntl
import ipaddress
import socket
import struct
from pathlib import Path

# SIOCGIFADDR of <linux/sockios.h>, and the position of the address in its answer.
_GET_ADDRESS = 0x8915
_ADDRESS_AT = slice(20, 24)
_IPV6_ADDRESSES = Path("/proc/net/if_inet6")
# Documentation's own networks: nothing is sent there, but the kernel says which way it would go.
_ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}


def is_own(host: str) -> bool:
    """Whether only this machine itself reaches this address or name."""
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def in_url(host: str) -> str:
    """A host as it stands in an address: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def reachable(host: str) -> list[str]:
    """The hosts to put into other machines' browsers for a server that listens on `host`.

    For 0.0.0.0 and :: that is every address of this machine which others can use, the one towards
    the rest of the world first.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return [host]
    if not address.is_unspecified:
        return [host]
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    found = _ipv4() if family == socket.AF_INET else _ipv6()
    usable = [each for each in found if not _is_local(each)]
    first = _outward(family)
    return sorted(usable, key=lambda each: each != first)


def own_of(host: str) -> str | None:
    """The address by which this machine itself reaches a server that listens on all of its own."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host)


def _is_local(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    return parsed.is_loopback or parsed.is_link_local


def _outward(family: socket.AddressFamily) -> str | None:
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((_ELSEWHERE[family], 9))
        return str(probe.getsockname()[0])
    return None


def _ipv4() -> list[str]:
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            # An interface without an address has none to tell.
            with contextlib.suppress(OSError):
                answer = fcntl.ioctl(asking.fileno(), _GET_ADDRESS, request)
                found.append(socket.inet_ntoa(answer[_ADDRESS_AT]))
    return found


def _ipv6() -> list[str]:
    try:
        lines = _IPV6_ADDRESSES.read_text().splitlines()
    except OSError:
        return []
    return [str(ipaddress.IPv6Address(int(line.split()[0], 16))) for line in lines]
