"""Reports decoded in bulk say what the reference decoder says, one at a time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from controller.telemetry.bulk import Batch, decode_batch
from controller.telemetry.flows import Flows
from controller.telemetry.observation import empty_rows
from controller.telemetry.packet import Marker
from controller.telemetry.rows import rows_of_datagram
from controller.telemetry.stack import MalformedError

from .golden import DROPPED, ETHERNET_IPV4, GROUP, IPV4_TCP_MARKED, TRACKED, TWO_HOPS

ROW_BYTES = 512
TO_THE_END = 0xFF


def batch_of(datagrams):
    # Behind a datagram's end stands rubbish, as in a receive buffer that is used again.
    data = np.full((len(datagrams), ROW_BYTES), 0xA5, dtype=np.uint8)
    for row, datagram in zip(data, datagrams, strict=True):
        row[: len(datagram)] = np.frombuffer(datagram, dtype=np.uint8)
    lengths = np.array([len(datagram) for datagram in datagrams])
    return Batch(data, lengths, np.arange(len(datagrams), dtype=np.uint64) * 1000)


def one_by_one(datagrams, flows, marker):
    rows, malformed = [empty_rows(0)], 0
    for index, datagram in enumerate(datagrams):
        try:
            rows.append(rows_of_datagram(datagram, index * 1000, flows, marker))
        except MalformedError:
            malformed += 1
    return np.concatenate(rows), malformed


def reported(header, packet):
    """A report whose packet goes on to the end of the datagram."""
    return GROUP + bytes([header[0], TO_THE_END]) + header[2:] + packet


def ethernet_report(packet):
    """The tracked report with an Ethernet frame inside."""
    return reported(b"\x13" + TRACKED[1:], packet)


def assert_bulk_agrees(datagrams, marker=None):
    marker = marker or Marker()
    by_flow, expected_flows = Flows(), Flows()
    expected, malformed = one_by_one(datagrams, expected_flows, marker)
    decoded = decode_batch(batch_of(datagrams), by_flow, marker)

    assert decoded.malformed == malformed
    # Flow numbers depend on the order in which shapes come, so the flows themselves are compared.
    named = [by_flow[number] if number else None for number in decoded.rows["flow"].tolist()]
    wanted = [expected_flows[number] if number else None for number in expected["flow"].tolist()]
    assert named == wanted
    for column in expected.dtype.names:
        if column != "flow":
            assert decoded.rows[column].tolist() == expected[column].tolist(), column
    return decoded


def test_two_hops_and_the_reporter_give_three_rows_in_the_order_of_the_way():
    rows = assert_bulk_agrees([reported(TRACKED, IPV4_TCP_MARKED + TWO_HOPS)]).rows

    assert rows["node_id"].tolist() == [1, 2, 3]
    assert rows["hop"].tolist() == [0, 1, 2]
    assert rows["queue_id"].tolist() == [3, 0, 2]
    assert rows["queue_occupancy"].tolist() == [7, 25, 25]
    # Ports only the reporter tells.
    assert rows["egress_port"].tolist() == [0xFFFF, 0xFFFF, 7]


def test_every_kind_of_report_in_one_batch():
    vlan = ETHERNET_IPV4[:12] + bytes.fromhex("8100 0064 0800")
    ipv6_tcp = (
        bytes.fromhex("65c00000 0030 06 40")
        + bytes(15) + b"\x01" + bytes(15) + b"\x02"
        + IPV4_TCP_MARKED[20:]
    )  # fmt: skip
    fragment = IPV4_TCP_MARKED[:6] + b"\x00\x10" + IPV4_TCP_MARKED[8:]
    unmarked = IPV4_TCP_MARKED[:1] + b"\x00" + IPV4_TCP_MARKED[2:]
    icmp = IPV4_TCP_MARKED[:9] + b"\x01" + IPV4_TCP_MARKED[10:]
    ipv6_report = b"\x15" + TRACKED[1:]
    decoded = assert_bulk_agrees(
        [
            reported(TRACKED, IPV4_TCP_MARKED + TWO_HOPS),
            reported(DROPPED, IPV4_TCP_MARKED),
            ethernet_report(ETHERNET_IPV4 + IPV4_TCP_MARKED + TWO_HOPS + b"payload"),
            ethernet_report(vlan + IPV4_TCP_MARKED + TWO_HOPS),
            reported(ipv6_report, ipv6_tcp + TWO_HOPS),
            ethernet_report(ETHERNET_IPV4[:12] + b"\x86\xdd" + ipv6_tcp + TWO_HOPS),
            reported(TRACKED, fragment),
            reported(TRACKED, unmarked + TWO_HOPS),
            reported(TRACKED, icmp),
            GROUP + TRACKED + IPV4_TCP_MARKED + DROPPED + IPV4_TCP_MARKED,
            GROUP,
            GROUP[:5],
        ]
    )
    assert decoded.malformed == 1


def test_a_udp_port_that_marks_is_put_back_in_bulk_too():
    ipv4 = bytes.fromhex("4500 0034 0001 4000 40 11 0000 0a000001 0a000002")
    udp = bytes.fromhex("04d2 7d00 0020 0000")
    shim = bytes.fromhex("14071389") + TWO_HOPS[4:]
    flows = Flows()
    batch = batch_of([reported(TRACKED, ipv4 + udp + shim)] * 3)
    decode_batch(batch, flows, Marker(dscp=None, udp_port=32000))
    assert [flow.destination_port for _, flow in flows.items()] == [5001]
    assert_bulk_agrees([reported(TRACKED, ipv4 + udp + shim)], Marker(dscp=None, udp_port=32000))


@pytest.mark.parametrize("seed", range(20))
def test_damaged_reports_are_refused_or_read_alike(seed):
    chance = random.Random(seed)
    good = [
        reported(TRACKED, IPV4_TCP_MARKED + TWO_HOPS),
        ethernet_report(ETHERNET_IPV4 + IPV4_TCP_MARKED + TWO_HOPS),
        reported(DROPPED, IPV4_TCP_MARKED),
        GROUP + TRACKED + IPV4_TCP_MARKED,
    ]
    damaged = []
    for _ in range(300):
        datagram = bytearray(chance.choice(good))
        for _ in range(chance.randint(0, 3)):
            datagram[chance.randrange(len(datagram))] = chance.randrange(256)
        if chance.random() < 0.3:
            del datagram[chance.randrange(len(datagram)) :]
        damaged.append(bytes(datagram))
    assert_bulk_agrees(damaged)
