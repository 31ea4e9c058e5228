"""Which packets share a queue: rules for the table of p4src/control/classify.p4.

    session.insert(entries([Rule(1, src_port=80), Rule(1, protocol=ICMP)]))

What no rule takes stays in class 0, the lowest.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from controller.entries import Call, Entry, Match, Ternary

TABLE = "classes"
ICMP, TCP, UDP = 1, 6, 17


@dataclass(frozen=True)
class Rule:
    """Packets that agree with everything that is given go into a class."""

    class_: int
    src: ipaddress.IPv4Network | None = None
    dst: ipaddress.IPv4Network | None = None
    protocol: int | None = None
    dscp: int | None = None
    src_port: int | None = None
    dst_port: int | None = None


def entries(rules: Sequence[Rule]) -> list[Entry]:
    """Entries for the rules; where several agree with a packet the first one holds."""
    # P4Runtime's priorities count upward from 1, and the largest one wins.
    return [_entry(rule, len(rules) - index) for index, rule in enumerate(rules)]


def _entry(rule: Rule, priority: int) -> Entry:
    match: dict[str, Match] = {}
    for name, network in (("hdr.ipv4.src_addr", rule.src), ("hdr.ipv4.dst_addr", rule.dst)):
        if network is not None:
            match[name] = Ternary(network.network_address, network.netmask)
    for name, value, width in (
        ("hdr.ipv4.protocol", rule.protocol, 8),
        ("hdr.ipv4.dscp", rule.dscp, 6),
        ("meta.l4.src", rule.src_port, 16),
        ("meta.l4.dst", rule.dst_port, 16),
    ):
        if value is not None:
            match[name] = Ternary(value, (1 << width) - 1)
    return Entry(TABLE, match, Call("set_class", class_num=rule.class_), priority)
