"""The shape of a report: everything that decides where its values stand.

Shapes are found by sorting a batch three times, each time by a number made of the few bytes that
the next offsets depend on: the report's header, the headers of the packet inside, the shim and INT
header. A datagram for which a step has no plan has no shape.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from controller.telemetry import packet as inner
from controller.telemetry.instructions import (
    PACKET_INSTRUCTIONS,
    PADDING,
    REPORT_INSTRUCTIONS,
    RESERVED_WORDS,
    WORD_BYTES,
    Instruction,
    bits_of,
    words_of,
)
from controller.telemetry.observation import COLUMN_OF
from controller.telemetry.report import (
    GROUP_HEADER_BYTES,
    LENGTH_TO_END,
    InnerType,
    ReportType,
)
from controller.telemetry.stack import INT_HEADER_BYTES, INT_VERSION, SHIM_BYTES, IntType

# The type word and the two fixed words of an INT report.
_REPORT_FIXED_BYTES = 12
# Behind the group header.
_REPORT_OFFSET = GROUP_HEADER_BYTES

Group = tuple[np.ndarray, "Shape | None"]


@dataclass(frozen=True)
class Shape:
    """Where the values of a report stand; all offsets in bytes from the datagram's start."""

    # The reporting node's own metadata.
    bitmap: int
    metadata_offset: int
    # The flow of the packet inside: protocol, addresses, ports. Empty: not an IP packet.
    flow_slices: tuple[slice, ...] = ()
    # The stack of a packet that carries INT-MD; no hops otherwise.
    hop_bitmap: int = 0
    hop_bytes: int = 0
    hop_count: int = 0
    stack_offset: int = 0

    def flow_of(self, datagram: np.ndarray) -> inner.Flow | None:
        """The flow of one datagram of this shape."""
        if not self.flow_slices:
            return None
        protocol, source, destination, *ports = (
            datagram[part].tobytes() for part in self.flow_slices
        )
        source_port, destination_port = ports or (b"", b"")
        return inner.Flow(
            protocol[0],
            str(ipaddress.ip_address(source)),
            int.from_bytes(source_port, "big"),
            str(ipaddress.ip_address(destination)),
            int.from_bytes(destination_port, "big"),
        )


def read_number(data: np.ndarray, offset: int, width_bits: int) -> np.ndarray:
    """A big-endian number of whole bytes at one offset of every datagram."""
    value = data[:, offset].astype(np.uint64)
    for position in range(offset + 1, offset + width_bits // 8):
        value = value << np.uint64(8) | data[:, position]
    return value


def read_values(
    data: np.ndarray,
    offset: int,
    bitmap: int,
    instructions: dict[int, Instruction],
    rows: np.ndarray,
) -> None:
    """Writes the metadata of one hop of every datagram into `rows`."""
    for bit in bits_of(bitmap):
        instruction = instructions.get(bit)
        if instruction is None:
            offset += RESERVED_WORDS * WORD_BYTES
            continue
        for field in instruction.fields:
            column = COLUMN_OF.get(field.name, field.name)
            if column != PADDING and column in (rows.dtype.names or ()):
                rows[column] = read_number(data, offset, field.width_bits)
            offset += field.width_bits // 8


def shapes(data: np.ndarray, lengths: np.ndarray, marker: inner.Marker) -> Iterator[Group]:
    """The indices of the datagrams of each shape; together they name every datagram once."""
    view = _View(data, lengths)
    for report_key, report in view.sorted_by(_report_key(view)):
        metadata_end = _plan_report(report_key)
        if metadata_end is None:
            yield report.index, None
            continue
        bitmap = int(report.number(_REPORT_OFFSET + 4, 16)[0])
        shape = Shape(bitmap, _REPORT_OFFSET + _REPORT_FIXED_BYTES)
        inner_type = int(report.byte(_REPORT_OFFSET)[0]) & 0xF
        if inner_type not in _NETWORK_OFFSETS:
            yield report.index, shape
            continue
        network = metadata_end + _NETWORK_OFFSETS[inner_type]
        packet_keys = _packet_key(report, inner_type, network, marker)
        for packet_key, packet in report.sorted_by(packet_keys):
            yield from _by_stack(packet, shape, _plan_packet(packet_key, network, marker))


class _View:
    """Some of a batch's datagrams, with their indices in it."""

    def __init__(
        self, data: np.ndarray, lengths: np.ndarray, index: np.ndarray | None = None
    ) -> None:
        self.data = data
        self.lengths = lengths
        self.index = np.arange(len(lengths)) if index is None else index

    def sorted_by(self, keys: np.ndarray) -> Iterator[tuple[int, _View]]:
        """Each distinct key with the view of its datagrams."""
        if not len(keys):
            return
        if (keys == keys[0]).all():
            # The usual batch: reports of one shape.
            yield int(keys[0]), self
            return
        order = np.argsort(keys, kind="stable")
        cuts = np.flatnonzero(np.diff(keys[order])) + 1
        for part in np.split(order, cuts):
            yield int(keys[part[0]]), _View(self.data[part], self.lengths[part], self.index[part])

    def byte(self, offsets: int | np.ndarray) -> np.ndarray:
        """One byte of every datagram; what stands behind a row's end reads as its last byte."""
        last = self.data.shape[1] - 1
        column = np.minimum(offsets, last)
        return self.data[np.arange(len(self.lengths)), column].astype(np.uint64)

    def number(self, offsets: int | np.ndarray, width_bits: int) -> np.ndarray:
        """A big-endian number of whole bytes; the offset may differ from datagram to datagram."""
        value = np.zeros(len(self.lengths), dtype=np.uint64)
        for position in range(width_bits // 8):
            value = value << np.uint64(8) | self.byte(offsets + position)
        return value


def _key(*parts: tuple[np.ndarray, int]) -> np.ndarray:
    """One number of several, each with its width in bits; 64 bits in all."""
    key = np.zeros(len(parts[0][0]), dtype=np.uint64)
    for values, width_bits in parts:
        key = key << np.uint64(width_bits) | values.astype(np.uint64)
    return key


# --- The report's own header.


def _report_key(view: _View) -> np.ndarray:
    announced = view.byte(_REPORT_OFFSET + 1).astype(np.int64)
    end = _REPORT_OFFSET + WORD_BYTES + WORD_BYTES * announced
    alone = (announced == LENGTH_TO_END) | (end == view.lengths)
    metadata_words = view.byte(_REPORT_OFFSET + 2).astype(np.int64)
    metadata_end = _REPORT_OFFSET + _REPORT_FIXED_BYTES + WORD_BYTES * metadata_words
    return _key(
        (view.byte(_REPORT_OFFSET), 8),
        (metadata_words, 8),
        (view.number(_REPORT_OFFSET + 4, 16), 16),
        (alone & (view.lengths >= metadata_end), 1),
    )


def _plan_report(key: int) -> int | None:
    """Where the reporting node's metadata end; None without a plan."""
    report_type, metadata_words = key >> 29, key >> 17 & 0xFF
    bitmap, whole = key >> 1 & 0xFFFF, key & 1
    if not whole or report_type != ReportType.INT:
        return None
    if words_of(bitmap, REPORT_INSTRUCTIONS) > metadata_words:
        return None
    return _REPORT_OFFSET + _REPORT_FIXED_BYTES + WORD_BYTES * metadata_words


# --- The headers of the packet inside.

# From the end of the metadata to the IP header.
_NETWORK_OFFSETS = {
    int(InnerType.ETHERNET): inner.ETHERNET_BYTES,
    int(InnerType.IPV4): 0,
    int(InnerType.IPV6): 0,
}


@dataclass(frozen=True)
class _Packet:
    """Where the headers of a packet stand; `payload` is that of TCP or UDP."""

    flow_slices: tuple[slice, ...]
    payload: int
    marked: bool
    # A UDP port that marks INT has taken the place of the flow's own, which the shim keeps.
    port_in_shim: bool


def _packet_key(view: _View, inner_type: int, network: int, marker: inner.Marker) -> np.ndarray:
    ethertype = _ethertype(view, inner_type, network)
    is_ipv6 = ethertype == inner.ETHERTYPE_IPV6
    first = view.byte(network)
    transport = network + np.where(is_ipv6, inner.IPV6_BYTES, 4 * (first & np.uint64(0xF)))
    transport = transport.astype(np.int64)
    protocol = np.where(is_ipv6, view.byte(network + 6), view.byte(network + 9))
    fragment = ~is_ipv6 & (view.number(network + 6, 16) & np.uint64(0x1FFF) != 0)
    is_tcp = protocol == inner.PROTOCOL_TCP
    header_words = np.where(is_tcp, view.byte(transport + 12) >> np.uint64(4), 0)
    # TCP's length stands in its thirteenth byte, so that much of it must be there.
    needed = transport + np.where(is_tcp, inner.TCP_BYTES_MIN, inner.PORTS_BYTES)
    return _key(
        (ethertype, 16),
        (first, 8),
        (protocol, 8),
        (header_words, 4),
        (_marked(view, network, transport, is_ipv6, protocol, marker), 1),
        (~fragment & (view.lengths >= needed), 1),
    )


def _ethertype(view: _View, inner_type: int, network: int) -> np.ndarray:
    if inner_type == InnerType.ETHERNET:
        return view.number(network - 2, 16)
    is_ipv4 = inner_type == InnerType.IPV4
    ethertype = inner.ETHERTYPE_IPV4 if is_ipv4 else inner.ETHERTYPE_IPV6
    return np.full(len(view.lengths), ethertype, dtype=np.uint64)


def _marked(
    view: _View,
    network: int,
    transport: np.ndarray,
    is_ipv6: np.ndarray,
    protocol: np.ndarray,
    marker: inner.Marker,
) -> np.ndarray:
    is_udp = protocol == inner.PROTOCOL_UDP
    if marker.dscp is None:
        return is_udp & (view.number(transport + 2, 16) == marker.udp_port)
    traffic_class = np.where(
        is_ipv6, view.number(network, 16) >> np.uint64(4), view.byte(network + 1)
    )
    is_marked = traffic_class >> np.uint64(2) & np.uint64(0x3F) == marker.dscp
    return is_marked & (is_udp | (protocol == inner.PROTOCOL_TCP))


def _plan_packet(key: int, network: int, marker: inner.Marker) -> _Packet | None:
    """The headers of a packet with ports; None without a plan."""
    ethertype, first, protocol = key >> 22, key >> 14 & 0xFF, key >> 6 & 0xFF
    header_words, marked, whole = key >> 2 & 0xF, key >> 1 & 1, key & 1
    is_ipv6 = ethertype == inner.ETHERTYPE_IPV6
    has_ports = protocol in (inner.PROTOCOL_TCP, inner.PROTOCOL_UDP)
    if not whole or not has_ports or not (is_ipv6 or ethertype == inner.ETHERTYPE_IPV4):
        return None
    if is_ipv6:
        addresses = (slice(8, 24), slice(24, 40))
        protocol_at, transport = 6, network + inner.IPV6_BYTES
    else:
        addresses = (slice(12, 16), slice(16, 20))
        protocol_at, transport = 9, network + 4 * (first & 0xF)
    is_tcp = protocol == inner.PROTOCOL_TCP
    return _Packet(
        flow_slices=(
            slice(network + protocol_at, network + protocol_at + 1),
            *(slice(network + part.start, network + part.stop) for part in addresses),
            slice(transport, transport + 2),
            slice(transport + 2, transport + 4),
        ),
        payload=transport + (4 * header_words if is_tcp else inner.UDP_BYTES),
        marked=bool(marked),
        port_in_shim=marker.udp_port is not None,
    )


# --- The stack of a packet that carries INT.


def _by_stack(view: _View, shape: Shape, packet: _Packet | None) -> Iterator[Group]:
    if packet is None:
        yield view.index, None
        return
    shape = replace(shape, flow_slices=packet.flow_slices)
    if not packet.marked:
        yield view.index, shape
        return
    for key, stack in view.sorted_by(_stack_key(view, packet.payload)):
        yield stack.index, _plan_stack(key, shape, packet)


def _stack_key(view: _View, payload: int) -> np.ndarray:
    length_words = view.byte(payload + 1).astype(np.int64)
    end = payload + SHIM_BYTES + WORD_BYTES * length_words
    header = payload + SHIM_BYTES
    return _key(
        (view.byte(payload), 8),
        (length_words, 8),
        (view.byte(header) >> np.uint64(4), 4),
        (view.byte(header + 2) & np.uint64(0x1F), 5),
        (view.number(header + 4, 16), 16),
        (view.lengths >= end, 1),
    )


def _plan_stack(key: int, shape: Shape, packet: _Packet) -> Shape | None:
    int_type, length_words = key >> 38 & 0xF, key >> 26 & 0xFF
    version, hop_words, bitmap, whole = (
        key >> 22 & 0xF,
        key >> 17 & 0x1F,
        key >> 1 & 0xFFFF,
        key & 1,
    )
    stack_bytes = WORD_BYTES * length_words - INT_HEADER_BYTES
    if not whole:
        # The packet was cut before the stack ends: its flow is known, its hops are not.
        return None if packet.port_in_shim else shape
    if version != INT_VERSION or int_type != IntType.MD or stack_bytes < 0:
        return None
    hop_bytes = WORD_BYTES * hop_words
    if hop_words < words_of(bitmap, PACKET_INSTRUCTIONS) or hop_bytes == 0:
        return None
    if stack_bytes % hop_bytes:
        return None
    if packet.port_in_shim:
        port = slice(packet.payload + 2, packet.payload + 4)
        shape = replace(shape, flow_slices=(*packet.flow_slices[:-1], port))
    return replace(
        shape,
        hop_bitmap=bitmap,
        hop_bytes=hop_bytes,
        hop_count=stack_bytes // hop_bytes,
        stack_offset=packet.payload + SHIM_BYTES + INT_HEADER_BYTES,
    )
