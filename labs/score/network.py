"""The network in which telemetry systems are scored, and its one process in virtual time."""

from __future__ import annotations

import functools
from pathlib import Path

from controller.packets import Queue
from labs.score.line import Line
from labs.score.workloads import RECEIVER, SENDERS
from topo import load, world
from topo.document import Place
from topo.model import Topology

ROUTER, SINK = "s1", "s2"
# The queue that is scored: toward the second router.
BOTTLENECK: Queue = (20, 0)
COLLECTOR = "h9"
# The second router's ports to the first one and to the receiver.
SINK_TO_ROUTER, SINK_TO_RECEIVER = 1, 2
_QUEUE_PACKETS = 100


@functools.cache
def topology(line: Line, *, mtu_bytes: int = 1500) -> Topology:
    """Eight senders, the bottleneck, the receiver, and a collector for systems that need a host.

    All lines but the scored one are ten times as fast. `mtu_bytes` is that of the line between the
    routers: INT needs room there.
    """
    hosts, ports, links, slow, fast = _senders(line)
    mtu = f"mtu: {mtu_bytes} B"
    text = "\n".join(
        [
            "hosts:",
            *hosts,
            f"  {RECEIVER}: {{address: 10.0.100.1/24}}",
            f"  {COLLECTOR}: {{address: 10.0.200.1/24}}",
            "switches:",
            f"  {ROUTER}:",
            "    ports:",
            *ports,
            f"      {BOTTLENECK[0]}: {{queue: {_QUEUE_PACKETS} packets}}",
            f"  {SINK}:",
            "    ports:",
            "      1: {}",
            "      2: {address: 10.0.100.254/24, queue: 1000 packets}",
            "      3: {address: 10.0.200.254/24, queue: 10000 packets}",
            "links:",
            *links,
            f'  - {{ends: ["{ROUTER}:{BOTTLENECK[0]}", "{SINK}:1"], rate: {slow}, {mtu}}}',
            f'  - {{ends: ["{SINK}:2", {RECEIVER}], rate: {fast}}}',
            f'  - {{ends: ["{SINK}:3", {COLLECTOR}], rate: {fast}}}',
        ]
    )
    return _network(text)


@functools.cache
def live_topology(line: Line) -> Topology:
    """The same without the second router, which would take half of a machine's time live: the
    receiver is behind the scored line."""
    hosts, ports, links, slow, _ = _senders(line)
    number = BOTTLENECK[0]
    text = "\n".join(
        [
            "hosts:",
            *hosts,
            f"  {RECEIVER}: {{address: 10.0.100.1/24}}",
            "switches:",
            f"  {ROUTER}:",
            "    ports:",
            *ports,
            f"      {number}: {{address: 10.0.100.254/24, queue: {_QUEUE_PACKETS} packets}}",
            "links:",
            *links,
            f'  - {{ends: ["{ROUTER}:{number}", {RECEIVER}], rate: {slow}}}',
        ]
    )
    return _network(text)


def _senders(line: Line) -> tuple[list[str], list[str], list[str], str, str]:
    """Hosts, ports and links of the senders, and the rates of the scored line and of the others."""
    slow, fast = f"{line.rate_bps} b/s", f"{10 * line.rate_bps} b/s"
    hosts = [f"  {name}: {{address: 10.0.{n}.1/24}}" for n, name in enumerate(SENDERS, 1)]
    ports = [f"      {n}: {{address: 10.0.{n}.254/24}}" for n in range(1, len(SENDERS) + 1)]
    links = [
        f'  - {{ends: [{name}, "{ROUTER}:{n}"], rate: {fast}}}' for n, name in enumerate(SENDERS, 1)
    ]
    return hosts, ports, links, slow, fast


def _network(text: str) -> Topology:
    return world.numbered(load.read(Place.of_text(text, Path("the scoreboard's network"))))
