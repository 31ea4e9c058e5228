"""Which packets share a queue: rules for the tables of p4src/control/classify.p4.

    session.insert(entries([Rule(1, src_port=80), Rule(1, protocol=ICMP)]))

What no rule takes stays in class 0, the lowest. A rule without addresses speaks of IPv4 and IPv6
alike and becomes an entry in both tables.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from controller.entries import Call, Entry, Match, Ternary
from controller.errors import EntryError

IPV4_CLASSES = "ipv4_classes"
IPV6_CLASSES = "ipv6_classes"
ICMP, TCP, UDP, ICMPV6 = 1, 6, 17, 58

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Rule:
    """Packets that agree with everything that is given go into a class."""

    class_: int
    src: Network | None = None
    dst: Network | None = None
    protocol: int | None = None
    dscp: int | None = None
    src_port: int | None = None
    dst_port: int | None = None
    # A clone session that gets a copy of each of these packets.
    mirror: int | None = None

    def __post_init__(self) -> None:
        if len(self.versions) == 0:
            raise EntryError(f"a rule from {self.src} to {self.dst} mixes IPv4 and IPv6.")

    @property
    def versions(self) -> frozenset[int]:
        """The versions of IP that the rule speaks of."""
        versions = {4, 6}
        for network in (self.src, self.dst):
            if network is not None:
                versions &= {network.version}
        return frozenset(versions)


def entries(rules: Sequence[Rule]) -> list[Entry]:
    """Entries for the rules; where several agree with a packet the first one holds."""
    return [
        # P4Runtime's priorities count upward from 1, and the largest one wins.
        _entry(rule, len(rules) - index, version)
        for index, rule in enumerate(rules)
        for version in sorted(rule.versions)
    ]


def _entry(rule: Rule, priority: int, version: int) -> Entry:
    header = f"hdr.ipv{version}"
    match: dict[str, Match] = {}
    for name, network in ((f"{header}.src_addr", rule.src), (f"{header}.dst_addr", rule.dst)):
        # A mask of zero bits is said by leaving the key out.
        if network is not None and network.prefixlen > 0:
            match[name] = Ternary(network.network_address, network.netmask)
    for name, value, width in (
        (f"{header}.protocol" if version == 4 else f"{header}.next_header", rule.protocol, 8),
        (f"{header}.dscp", rule.dscp, 6),
        ("meta.l4.src", rule.src_port, 16),
        ("meta.l4.dst", rule.dst_port, 16),
    ):
        if value is not None:
            match[name] = Ternary(value, (1 << width) - 1)
    call = Call("set_class", class_num=rule.class_)
    if rule.mirror is not None:
        call = Call("set_class_and_mirror", class_num=rule.class_, session=rule.mirror)
    return Entry(IPV4_CLASSES if version == 4 else IPV6_CLASSES, match, call, priority)
