"""A workload as a list of sendings, for hosts that are real.

    for sending in sendings(workload.on(line, rng), rng): ...

In virtual time the hosts' applications draw their instants themselves; here they are drawn before
the run, so that one process can send everything in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from vitrine.v1 import world_pb2

from labs.score.workloads import Apps

_NS_PER_S = 1_000_000_000


@dataclass(frozen=True, order=True)
class Sending:
    """Datagrams that a host sends at once, or a TCP connection that it opens."""

    at_ns: int
    # Every application is a flow of its own.
    flow: int
    host: str
    port: int
    # Of datagrams; 0: a connection that carries `length_bytes`.
    datagrams: int
    # Of each datagram.
    length_bytes: int


def sendings(apps: Apps, rng: Random) -> list[Sending]:
    """In the order of time."""
    found: list[Sending] = []
    for flow, (host, app) in enumerate(apps):
        if app.HasField("bulk"):
            bulk = app.bulk
            found.append(Sending(bulk.after_ns, flow, host, bulk.to.port, 0, bulk.length_bytes))
            continue
        source = app.datagram_source
        for at_ns, count in _instants(source, rng):
            payload = source.payload_bytes
            found.append(Sending(at_ns, flow, host, source.to.port, count, payload))
    return sorted(found)


def _instants(source: world_pb2.DatagramSource, rng: Random) -> Iterator[tuple[int, int]]:
    begin, end = source.after_ns, source.after_ns + source.span_ns
    bits = 8 * source.payload_bytes * _NS_PER_S
    match source.WhichOneof("pace"):
        case "steady":
            yield from ((at, 1) for at in range(begin, end, bits // source.steady.rate_bps))
        case "poisson":
            at = float(begin)
            while (at := at + rng.expovariate(source.poisson.rate_bps / bits)) < end:
                yield int(at), 1
        case "on_off":
            pace = source.on_off
            gap, at = bits // pace.rate_bps, float(begin)
            while at < end:
                until = at + rng.expovariate(1 / pace.on_mean_ns)
                yield from ((at, 1) for at in range(int(at), min(end, int(until)), gap))
                at = until + rng.expovariate(1 / pace.off_mean_ns)
        case "volleys":
            yield from ((begin + at, source.volleys.datagrams) for at in source.volleys.at_ns)
