"""The network of cells, for both worlds: each cell has hosts and ports of its own.

a1 ── 1 ┐    ┌ 2 ══ b1
a2 ── 3 ┤ s1 ├ 4 ══ b2
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.conformance.tcp.cells import Cell
from topo.document import Place
from topo.load import read
from topo.model import Topology

# Both worlds' hosts have the same memory for a connection.
_MEMORY_MAX_BYTES = 16_777_216


def topology(cells: Sequence[Cell], late_us: int = 0) -> Topology:
    """The network of a batch; only hosts of the virtual world have a configured send delay.

    Their packets are late by anything from zero up to `late_us`.
    """
    return read(Place.of_text(_text(cells, late_us), Path("cells.yaml")))


def _text(cells: Sequence[Cell], late_us: int) -> str:
    """The same as a topology file."""
    lines = ["hosts:"]
    ports = []
    links = []
    for lane, cell in enumerate(cells, 1):
        memory = f"rmem: [10240 B, 131072 B, {_MEMORY_MAX_BYTES} B]"
        memory += f", wmem: [10240 B, 16384 B, {_MEMORY_MAX_BYTES} B]"
        ecn = ", sysctls: {net.ipv4.tcp_ecn: 1}" if cell.ecn else ""
        tcp = f"tcp: {{congestion: {cell.congestion}, {memory}}}{ecn}"
        for side, host in ((1, "a"), (2, "b")):
            lines.append(f"  {host}{lane}: {{address: 10.{side}.{lane}.1/24, {tcp}}}")
        near, far = 2 * lane - 1, 2 * lane
        # Jitter at the router's input delays the host's packets.
        received = [f"jitter: {late_us} us"] if late_us else []
        delay = f"delay: {cell.delay_us} us"
        lossy = [f"loss: {_percent(cell.loss_ppm)}"] if cell.loss_ppm else []
        aqm = [] if cell.aqm == "off" else [f"aqm: {cell.aqm}"]
        ports += [
            _port(near, f"10.1.{lane}.254", cell.access_bps, [], received),
            _port(
                far,
                f"10.2.{lane}.254",
                cell.rate_bps,
                [f"queue: {cell.queue_packets} packets", *aqm, delay, *lossy],
                [delay, *received],
            ),
        ]
        links += [f'  - [a{lane}, "s1:{near}"]', f'  - ["s1:{far}", b{lane}]']
    return "\n".join([*lines, "switches:", "  s1:", "    ports:", *ports, "links:", *links, ""])


def _port(
    number: int, address: str, rate_bps: int, sent: Sequence[str], received: Sequence[str]
) -> str:
    fields = [f"address: {address}/24", "classes: 1", f"rate: {rate_bps} b/s", *sent]
    if received:
        fields.append(f"receive: {{{', '.join(received)}}}")
    return f"      {number}: {{{', '.join(fields)}}}"


def _percent(share_ppm: int) -> str:
    return f"{share_ppm / 10_000} %"
