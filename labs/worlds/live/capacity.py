"""This machine's capacity: measured before a lab chooses the rate of its line.

A flow through two routers without any rate shows what hosts and routers together can do. A lab's
line should be a third of that at most: then the machine has time for two flows, for the instruments
and for what else it does, and a run is of the modelled line and not of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labs.worlds.live import iperf
from labs.worlds.live.hosts import serve_flow
from topo import load
from topo.live import LiveHost

# Two routers whose lines have no rate.
TOPOLOGY = load.load(Path(__file__).with_name("capacity.yaml"))
SENDER, RECEIVER = "h1", "h2"
HEADROOM = 3
_SECONDS = 3
_PORT = 5200


def measure(sender: LiveHost, receiver: LiveHost) -> float:
    """The payload that one TCP flow carries through two routers, in bits a second."""
    sender.set_congestion_control("cubic")
    serve_flow(receiver, _PORT, "capacity")
    client = iperf.client(str(receiver.address), _PORT, seconds=_SECONDS, congestion="cubic")
    return iperf.parse(sender.run(client)).received_bps


def choose(rates_bps: Sequence[int], carried_bps: float) -> int:
    """The fastest of these rates, fastest first, that leaves room; else the slowest."""
    for rate_bps in rates_bps:
        if rate_bps * HEADROOM <= carried_bps:
            return rate_bps
    return rates_bps[-1]
