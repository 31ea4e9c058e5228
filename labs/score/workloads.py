"""The traffic under which telemetry systems are scored, drawn from a seed.

Eight hosts with lines of 10 Gb/s share one of 1 Gb/s to a receiver; on a faster line the same
packets come as much faster:

    h1 ... h8 -- s1 ==1 Gb/s== s2 -- r1

A workload is a function from a random generator to applications; docs/telemetry-score.md has them
as a table.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from vitrine.v1 import world_pb2

from labs.errors import SettingError
from labs.hint import meant
from labs.score.line import ONE_GIGABIT, Line

LINE_BPS = ONE_GIGABIT.rate_bps
SENDERS = tuple(f"h{number}" for number in range(1, 9))
RECEIVER = "r1"
SPAN_MS = 40
PAYLOAD_BYTES = 1400
# Ethernet, IPv4 and UDP.
FRAME_BYTES = PAYLOAD_BYTES + 42
NS_PER_MS = 1_000_000
NS_PER_US = 1000

Source: TypeAlias = world_pb2.DatagramSource
# Applications with the hosts that they run on.
Apps: TypeAlias = Iterator[tuple[str, world_pb2.App]]


@dataclass(frozen=True)
class Workload:
    """A traffic pattern."""

    name: str
    summary: str
    apps: Callable[[Random], Apps]

    def on(self, line: Line, rng: Random) -> Apps:
        """The applications on a line of another rate: the same packets, as much faster."""
        for host, app in self.apps(rng):
            if line != ONE_GIGABIT:
                _hasten(app, line)
            yield host, app


def _hasten(app: world_pb2.App, line: Line) -> None:
    if app.HasField("bulk"):
        app.bulk.after_ns = line.span(app.bulk.after_ns)
        return
    source = app.datagram_source
    source.after_ns = line.span(source.after_ns)
    source.span_ns = line.span(source.span_ns)
    match source.WhichOneof("pace"):
        case "steady":
            source.steady.rate_bps = line.scaled(source.steady.rate_bps)
        case "poisson":
            source.poisson.rate_bps = line.scaled(source.poisson.rate_bps)
        case "on_off":
            source.on_off.rate_bps = line.scaled(source.on_off.rate_bps)
            source.on_off.on_mean_ns = line.span(source.on_off.on_mean_ns)
            source.on_off.off_mean_ns = line.span(source.on_off.off_mean_ns)
        case "volleys":
            source.volleys.at_ns[:] = map(line.span, source.volleys.at_ns)


# The receiver's ports, by use.
_STEADY, _BURST, _TCP = 5001, 6001, 7001
DATAGRAM_PORTS = range(_STEADY, _BURST + 64)


def steady(
    host: str, rate_bps: int, after_ns: int, *, port: int = _STEADY
) -> tuple[str, world_pb2.App]:
    """Datagrams at a rate, until the end of the traffic."""
    source = _source(port, after_ns)
    source.steady.rate_bps = rate_bps
    source.span_ns = SPAN_MS * NS_PER_MS - after_ns
    return host, world_pb2.App(datagram_source=source)


def _poisson(host: str, rate_bps: int) -> tuple[str, world_pb2.App]:
    source = _source(_STEADY, 0)
    source.poisson.rate_bps = rate_bps
    source.span_ns = SPAN_MS * NS_PER_MS
    return host, world_pb2.App(datagram_source=source)


def volley(host: str, at_ns: int, packets: int, port: int) -> tuple[str, world_pb2.App]:
    """So many datagrams at once."""
    source = _source(port, at_ns)
    source.volleys.datagrams = packets
    source.volleys.at_ns.append(0)
    return host, world_pb2.App(datagram_source=source)


def _source(port: int, after_ns: int) -> Source:
    to = world_pb2.Peer(host=RECEIVER, port=port)
    return world_pb2.DatagramSource(to=to, after_ns=after_ns, payload_bytes=PAYLOAD_BYTES)


# ---- workloads -----------------------------------------------------------------------------------


def _incast(rng: Random) -> Apps:
    """Every 5 ms 4 to 8 servers answer at once, 10 to 20 packets each, over 20 % Poisson."""
    for host in SENDERS[:4]:
        yield _poisson(host, LINE_BPS // 20)
    for round_, at_ms in enumerate(range(2, SPAN_MS - 3, 5)):
        at_ns = at_ms * NS_PER_MS + rng.randrange(NS_PER_MS)
        for host in sorted(rng.sample(SENDERS, rng.randint(4, 8))):
            jitter_ns = rng.randrange(20 * NS_PER_US)
            yield volley(host, at_ns + jitter_ns, rng.randint(10, 20), _BURST + round_)


def _microburst(rng: Random) -> Apps:
    """Four flows of 15 % each; five times another host sends 50 to 100 packets at 10 Gb/s."""
    for host in SENDERS[:4]:
        yield steady(host, LINE_BPS * 15 // 100, rng.randrange(100 * NS_PER_US))
    for round_ in range(5):
        at_ns = (3 + 7 * round_) * NS_PER_MS + rng.randrange(3 * NS_PER_MS)
        yield volley(rng.choice(SENDERS[4:]), at_ns, rng.randint(50, 100), _BURST + round_)


def _ramp(rng: Random) -> Apps:
    """Eight flows of 14 % begin one after the other, 4 ms apart: the queue fills slowly."""
    for index, host in enumerate(SENDERS):
        after_ns = index * 4 * NS_PER_MS + rng.randrange(NS_PER_MS)
        yield steady(host, LINE_BPS * 14 // 100, after_ns)


def _on_off(rng: Random) -> Apps:
    """Six sources of 400 Mb/s, on for 1 ms and off for 3 ms in the mean."""
    for host in SENDERS[:6]:
        source = _source(_STEADY, rng.randrange(NS_PER_MS))
        source.on_off.rate_bps = 400_000_000
        source.on_off.on_mean_ns = NS_PER_MS
        source.on_off.off_mean_ns = 3 * NS_PER_MS
        source.span_ns = (SPAN_MS - 1) * NS_PER_MS
        yield host, world_pb2.App(datagram_source=source)


# Flow sizes of the web-search traffic in Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010,
# in packets of 1460 bytes, as points of the distribution function between which it is linear.
_WEB_SEARCH = (
    (0.0, 1), (0.15, 6), (0.2, 13), (0.3, 19), (0.4, 33), (0.53, 53), (0.6, 133),
    (0.7, 667), (0.8, 1333), (0.9, 3333), (0.97, 6667), (1.0, 20000),
)  # fmt: skip
_WEB_SEARCH_FLOWS = 40


def _web_search(rng: Random) -> Apps:
    """Forty TCP flows with the sizes of web search, of at most 400 packets, at random instants."""
    for _ in range(_WEB_SEARCH_FLOWS):
        to = world_pb2.Peer(host=RECEIVER, port=_TCP)
        after_ns = rng.randrange((SPAN_MS - 5) * NS_PER_MS)
        length_bytes = 1460 * min(400, _web_search_packets(rng.random()))
        bulk = world_pb2.Bulk(to=to, after_ns=after_ns, length_bytes=length_bytes)
        yield rng.choice(SENDERS), world_pb2.App(bulk=bulk)


def _web_search_packets(share: float) -> int:
    for (low, few), (high, many) in itertools.pairwise(_WEB_SEARCH):
        if share <= high:
            return round(few + (many - few) * (share - low) / (high - low))
    return _WEB_SEARCH[-1][1]


def _adversary(rng: Random) -> Apps:
    """Bursts of 0.5 ms, just after each second whole millisecond, split over sixteen flows each.

    A poll each millisecond finds the queue empty again; no flow has many packets in a window.
    """
    for host in SENDERS[:4]:
        yield steady(host, LINE_BPS * 10 // 100, rng.randrange(100 * NS_PER_US))
    for at_ms in range(2, SPAN_MS - 2, 4):
        at_ns = at_ms * NS_PER_MS + 50 * NS_PER_US + rng.randrange(50 * NS_PER_US)
        for host in SENDERS[4:]:
            for port in range(4):
                yield volley(host, at_ns + rng.randrange(NS_PER_US), 2, _BURST + port)


WORKLOADS: dict[str, Workload] = {
    each.name: each
    for each in (
        Workload("incast", "servers that answer at once", _incast),
        Workload("microburst", "bursts of one host over long flows", _microburst),
        Workload("ramp", "flows that begin one after the other", _ramp),
        Workload("on-off", "sources that switch on and off at random", _on_off),
        Workload("web-search", "TCP flows with the sizes of web search", _web_search),
        Workload("adversary", "bursts between the polls, split over many flows", _adversary),
    )
}


def named(name: str) -> Workload:
    """The workload of that name."""
    if name not in WORKLOADS:
        raise SettingError(f"there is no workload {name!r}: {meant(name, sorted(WORKLOADS))}")
    return WORKLOADS[name]
