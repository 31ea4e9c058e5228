"""What this machine can carry: measured before a lab chooses the rate of its line.

A flow through two routers without any rate shows what hosts and routers together can do. A lab's
line should be a third of that at most: then the machine has time for two flows, for the instruments
and for what else it does, and a run is of the modelled line and not of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labs.bench import Bench, serve_flow
from labs.measure import iperf
from topo import load

HEADROOM = 3
_SECONDS = 3
_PORT = 5200


def measure(bench: Bench) -> float:
    """The payload that one TCP flow carries through two routers, in bits a second."""
    bench.bring_up(load.load(Path(__file__).with_name("measure") / "capacity.yaml"))
    h1, h2 = bench.host("h1"), bench.host("h2")
    h1.set_congestion_control("cubic")
    serve_flow(h2, _PORT, "capacity")
    client = iperf.client(str(h2.address), _PORT, seconds=_SECONDS, congestion="cubic")
    return iperf.parse(h1.run(client)).received_bps


def choose(rates_bps: Sequence[int], carried_bps: float) -> int:
    """The fastest of these rates, fastest first, that leaves room; else the slowest."""
    for rate_bps in rates_bps:
        if rate_bps * HEADROOM <= carried_bps:
            return rate_bps
    return rates_bps[-1]
