"""Bytes worked out by hand from the fields of the specifications, INT 2.1 and report 2.0."""

from __future__ import annotations

# Shim: TCP, MD, the DSCP marks INT; 7 words follow; original DSCP 0.
# INT-MD: 2 words a hop, 6 hops remain, node id and queue.
# Stack: hop 2 (node 2, queue 0, occupancy 25), hop 1 (node 1, queue 3, occupancy 7).
TWO_HOPS = bytes.fromhex(
    "10070000"
    "20000206 90000000 00000000"
    "00000002 00000019 00000001 03000007"
)  # fmt: skip

# Ethernet, IPv4 (DSCP 0x17 is traffic class 0x5c), TCP 5001 > 80 without options.
ETHERNET_IPV4 = bytes.fromhex("0a0000000002 0a0000000001 0800")
IPV4_TCP_MARKED = bytes.fromhex(
    "455c 0054 0001 4000 40 06 0000 0a000001 0a000002"
    "1389 0050 00000001 00000002 5010 ffff 0000 0000"
)

# Group: version 2, hardware 1, sequence 5, node 3.
GROUP = bytes.fromhex("20400005 00000003")
# A tracked flow: ports and queue of the reporting node, an IPv4 packet with 10 words of headers.
# 2 fixed words + 2 words of metadata + 10 words = 14 = 0x0e.
TRACKED = bytes.fromhex("140e0220 50000000 00000000 00030007 02000019")
# A drop: ports 3 -> 7, queue 2, reason 71.
DROPPED = bytes.fromhex("140e0280 40010000 00000000 00030007 02470000")
