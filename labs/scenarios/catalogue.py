"""The scenarios of the page, in the order of its gallery."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from apps import domain as domains
from labs.bdp_tcp_windows.lab import LINE as LONG_LINE
from labs.bdp_tcp_windows.lab import BdpTcpWindows
from labs.bench import FIRST_BURST_PORT, FIRST_IPERF_PORT
from labs.bottleneck.lab import BOTTLENECK, Bottleneck
from labs.glass import virtual
from labs.int_microburst import lab as microburst
from labs.router_buffer_size.lab import LINE, RouterBufferSize
from labs.scenarios.classics import classics
from labs.scenarios.scenario import PS_PER_S, Scenario, bursts, ping, tcp
from labs.settings import Settings
from labs.sizing_router_buffers.lab import SizingRouterBuffers
from labs.where_was_it_dropped import lab as dropped
from labs.worlds.virtual import telemetry

_QUICK = Settings(quick=True)
_MBPS = 1_000_000


# What the page says of the lessons, which are at home in labs/glass.
_LESSONS = {
    "hol-blocking": (
        "Head-of-line blocking",
        "Three TCP flows share input 1 of s2. The third, toward an idle line, stands behind the "
        "others; virtual output queues cure it with one click.",
    ),
    "bufferbloat": (
        "Bufferbloat",
        "A download, a web page and pings before a slow line: what a long queue costs, and what a "
        "shorter one or a second one changes.",
    ),
    "link-sharing": (
        "Link sharing",
        "Two hosts on one line: one FIFO, weights, priority, shapers. Who gets how much?",
    ),
    "queue-management": (
        "Queue management",
        "Two flows before one long queue: RED, CoDel, PIE and marks instead of drops, side by side "
        "with what they decide by.",
    ),
}


def _lesson(name: str) -> Scenario:
    title, summary = _LESSONS[name]
    network = virtual.named(name)
    return Scenario(
        name=name,
        title=title,
        summary=summary,
        topology=network.topology(),
        apps=[
            app
            for number, (source, target) in enumerate(network.flows)
            for app in tcp(source, target, virtual.FIRST_PORT + number, network.congestion)
        ],
        router=network.router,
        port=network.port,
        lesson=name,
        pace=network.pace,
        settled_ps=round(network.settled_s * PS_PER_S),
        group="Lessons",
    )


def _bottleneck() -> Scenario:
    lab = Bottleneck(_QUICK)
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="One TCP flow fills the queue before a slow line, loses a packet and falls back: a "
        "saw. Change its congestion control, its rate, its queue.",
        topology=lab.topology(),
        apps=[*tcp("h1", "h2", FIRST_IPERF_PORT, "reno"), ping("h1", "h2")],
        router="s1",
        port=BOTTLENECK,
        pace=1e-2,
    )


def _bdp() -> Scenario:
    lab = BdpTcpWindows(_QUICK)
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="A long fat path that stays two thirds empty: the receiver's window is smaller "
        "than what the path holds.",
        topology=lab.topology(lab.runs()[0]),
        apps=tcp("h1", "h2", FIRST_IPERF_PORT, "cubic"),
        router="s1",
        port=LONG_LINE,
        pace=2e-3,
    )


def _sizing() -> Scenario:
    lab = SizingRouterBuffers(_QUICK)
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="How short can the queue of one flow be before the line runs empty? Make it "
        "shorter and watch the saw reach the ground.",
        topology=lab.topology(next(run for run in lab.runs() if run.name == "buffer-18")),
        apps=tcp("h1", "h2", FIRST_IPERF_PORT, "reno"),
        router="s1",
        port=BOTTLENECK,
        pace=1e-2,
    )


def _buffer_size() -> Scenario:
    lab = RouterBufferSize(_QUICK)
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="BBR and CUBIC share a line: who gets how much depends on the router's buffer.",
        topology=lab.topology(lab.runs()[2]),
        apps=[
            *tcp("h1", "h2", FIRST_IPERF_PORT, "bbr"),
            *tcp("h3", "h4", FIRST_IPERF_PORT + 1, "cubic"),
        ],
        router="s1",
        port=LINE,
        pace=2e-3,
    )


def _microburst() -> Scenario:
    lab = microburst.IntMicroburst(_QUICK)
    domain = domains.load(microburst.HERE / "domain.yaml")
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="Now and then a burst of milliseconds fills a queue, and no counter shows it. The "
        "routers speak INT and write into packets what they went through.",
        topology=lab.topology(),
        apps=[
            (domain.collector, telemetry.sink()),
            *tcp("h1", "h2", FIRST_IPERF_PORT, "cubic", microburst.BACKGROUND_BPS),
            *tcp("h3", "h5", FIRST_IPERF_PORT + 1, "cubic", microburst.SIDE_BPS),
            *bursts(
                *("h4", "h5", FIRST_BURST_PORT),
                payload_bytes=microburst.BURST_PAYLOAD_BYTES,
                datagrams=microburst.BURST_PACKETS,
                bps=_MBPS,
            ),
        ],
        router="s2",
        port=2,
        domain=domain,
        pace=2e-3,
    )


def _dropped() -> Scenario:
    lab = dropped.WhereWasItDropped(_QUICK)
    domain = domains.load(dropped.HERE / "domain.yaml")
    senders = [
        app
        for number, sender in enumerate(dropped.SENDERS)
        for app in bursts(
            *(sender.name, sender.target, FIRST_BURST_PORT + number),
            payload_bytes=dropped.PAYLOAD_BYTES,
            datagrams=sender.burst,
            bps=_MBPS,
        )
    ]
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="Three hosts lose packets in bursts, each at another router and for another "
        "reason.",
        topology=lab.topology(),
        apps=[(domain.collector, telemetry.sink()), *senders],
        router="s1",
        port=2,
        domain=domain,
        pace=2e-3,
    )


@functools.cache
def scenarios() -> Sequence[Scenario]:
    """All of them."""
    return (
        *map(_lesson, _LESSONS),
        _bottleneck(),
        _bdp(),
        _sizing(),
        _buffer_size(),
        _microburst(),
        _dropped(),
        *classics(),
    )
