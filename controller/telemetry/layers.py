"""INT and telemetry reports as scapy layers: to build packets, to send them, to look at them.

    from controller.telemetry.layers import IntShim, IntMd, TelemetryGroup, TelemetryReport
    packet = Ether() / IP(tos=0x17 << 2) / TCP() / IntShim() / IntMd(bitmap=0x9000, stack=[...])

The stack and the metadata of a report are lists of words; `controller.telemetry.stack` and `report`
give them names. Lengths that are left out are computed. Nothing in a TCP header says that INT
follows, so `bind_int(dscp)` tells scapy the domain's marker; UDP ports are bound likewise.
"""

from __future__ import annotations

from typing import Any

from scapy.fields import (
    BitEnumField,
    BitField,
    ByteField,
    FieldListField,
    IntField,
    PacketListField,
    XIntField,
    XShortField,
)
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw, bind_layers

from controller.telemetry.instructions import WORD_BYTES
from controller.telemetry.packet import DSCP_INT
from controller.telemetry.report import LENGTH_TO_END, InnerType, ReportType
from controller.telemetry.stack import INT_HEADER_BYTES, INT_VERSION, IntType, NextProtocolType

_INT_HEADER_WORDS = INT_HEADER_BYTES // WORD_BYTES
# The words of a report's main contents in front of its metadata.
_REPORT_FIXED_WORDS = 2


class IntShim(Packet):
    """The word between L4 and INT headers; its length counts the words behind it."""

    name = "INT shim"
    fields_desc = [  # noqa: RUF012
        BitEnumField("type", IntType.MD, 4, {item.value: item.name for item in IntType}),
        BitEnumField("npt", 0, 2, {item.value: item.name for item in NextProtocolType}),
        BitField("reserved", 0, 2),
        ByteField("length", None),
        XShortField("original", 0),
    ]

    def post_build(self, packet: bytes, payload: bytes) -> bytes:
        """Fills in the length: as long as the INT header behind it."""
        if self.length is None:
            words = self.payload.size_words if isinstance(self.payload, IntMd) else 0
            packet = packet[:1] + bytes([words]) + packet[2:]
        return packet + payload

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        """MD and MX have the same header; MX has no stack."""
        return IntMd if self.type in (IntType.MD, IntType.MX) else Raw


class IntMd(Packet):
    """The INT-MD header with its stack, newest hop first; without a stack the INT-MX header too."""

    name = "INT-MD"
    fields_desc = [  # noqa: RUF012
        BitField("version", INT_VERSION, 4),
        BitField("discard", 0, 1),
        BitField("hops_exceeded", 0, 1),
        BitField("mtu_exceeded", 0, 1),
        BitField("reserved", 0, 12),
        BitField("hop_words", 0, 5),
        ByteField("remaining_hops", 8),
        XShortField("bitmap", 0),
        XShortField("domain_id", 0),
        XShortField("domain_bitmap", 0),
        XShortField("domain_flags", 0),
        FieldListField(
            "stack", [], XIntField("word", 0), count_from=lambda packet: packet.stack_words()
        ),
    ]

    def stack_words(self) -> int:
        """How many words of the stack the shim in front announces."""
        if not isinstance(self.underlayer, IntShim) or self.underlayer.length is None:
            return 0
        return max(0, self.underlayer.length - _INT_HEADER_WORDS)

    @property
    def size_words(self) -> int:
        """Header and stack."""
        return _INT_HEADER_WORDS + len(self.stack)

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        """The rest is the host's own payload."""
        return Raw


class TelemetryReport(Packet):
    """One individual report; the packet it is about is its payload."""

    name = "telemetry report"
    fields_desc = [  # noqa: RUF012
        BitEnumField("report_type", 1, 4, {item.value: item.name for item in ReportType}),
        BitEnumField("inner_type", 3, 4, {item.value: item.name for item in InnerType}),
        ByteField("length", LENGTH_TO_END),
        ByteField("metadata_words", None),
        BitField("dropped", 0, 1),
        BitField("congested", 0, 1),
        BitField("tracked", 0, 1),
        BitField("intermediate", 0, 1),
        BitField("reserved", 0, 4),
        XShortField("bitmap", 0),
        XShortField("domain_id", 0),
        XShortField("domain_bitmap", 0),
        XShortField("domain_status", 0),
        FieldListField(
            "metadata", [], XIntField("word", 0), count_from=lambda packet: packet.metadata_words
        ),
    ]

    def post_build(self, packet: bytes, payload: bytes) -> bytes:
        """Fills in the length of the metadata."""
        if self.metadata_words is None:
            packet = packet[:2] + bytes([len(self.metadata)]) + packet[3:]
        return packet + payload

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        """The inner type determines the beginning of the reported packet."""
        inner: dict[int, type[Packet]] = {
            InnerType.ETHERNET: Ether,
            InnerType.IPV4: IP,
            InnerType.IPV6: IPv6,
        }
        return inner.get(self.inner_type, Raw)

    def extract_padding(self, data: bytes) -> tuple[bytes, bytes | None]:
        """The reported packet, and the reports behind it."""
        if self.length == LENGTH_TO_END:
            return data, None
        inner_words = self.length - _REPORT_FIXED_WORDS - self.metadata_words
        end = WORD_BYTES * max(0, inner_words)
        return data[:end], data[end:]


class TelemetryGroup(Packet):
    """The header of a telemetry report datagram."""

    name = "telemetry group"
    fields_desc = [  # noqa: RUF012
        BitField("version", 2, 4),
        BitField("hardware_id", 0, 6),
        BitField("sequence", 0, 22),
        IntField("node_id", 0),
        PacketListField("reports", [], TelemetryReport),
    ]


_dscp_of_domain: dict[str, int] = {}


def bind_int(dscp: int = DSCP_INT) -> None:
    """Tells scapy that TCP and UDP packets with this DSCP carry INT."""
    _dscp_of_domain["dscp"] = dscp
    for layer in (TCP, UDP):
        if layer.guess_payload_class is not _payload_class:
            setattr(layer, _PLAIN_GUESS, layer.guess_payload_class)
            layer.guess_payload_class = _payload_class  # type: ignore[method-assign]


def bind_reports(port: int) -> None:
    """Tells scapy which UDP port reports are sent to."""
    bind_layers(UDP, TelemetryGroup, dport=port)


_PLAIN_GUESS = "guess_payload_class_without_int"


def _payload_class(self: Any, payload: bytes) -> type[Packet]:
    """The marker stands in the IP header below TCP or UDP."""
    below = self.underlayer
    traffic_class = getattr(below, "tos", None) if isinstance(below, IP) else None
    if isinstance(below, IPv6):
        traffic_class = below.tc
    if traffic_class is not None and traffic_class >> 2 == _dscp_of_domain["dscp"]:
        return IntShim
    return getattr(self, _PLAIN_GUESS)(payload)
