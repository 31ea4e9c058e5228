"""The networks that lessons of the page begin in.

Each is the network of a lab, with the flows that its lesson begins with, after so long that the
picture shows what it asks about. Those of other labs have lessons, too: see `router_labs`.

A lab is imported where its network is made, because most draw: the first picture of `vitrine glass`
would wait for what the other ones draw with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from labs.scenarios.scenario import PS_PER_S, App, Scenario, poisson, tcp
from labs.settings import Settings

GROUP = "Lessons"
_FIRST_PORT = 5201
# Sender, receiver and rate: twice 20 Mb/s for a line of 10 Mb/s, and a little more than 50 Mb/s for
# one of 50 Mb/s.
_HOL_SENDERS = (
    ("h1", "h4", 20_000_000),
    ("h2", "h4", 20_000_000),
    ("h3", "h5", 52_000_000),
)


def _hol_blocking() -> Scenario:
    from labs.hol_blocking.lab import CONGESTED, HolBlocking

    lab = HolBlocking(Settings())
    # Constant rates: what the lesson says is true at every instant, and not only on average over
    # the seconds in which TCP finds its rate. The victim offers all that its line carries.
    senders = [
        app
        for number, (source, target, bps) in enumerate(_HOL_SENDERS)
        for app in poisson(source, target, _FIRST_PORT + number, payload_bytes=1400, bps=bps)
    ]
    return Scenario(
        name="hol-blocking",
        title="Head-of-line blocking",
        summary="Three senders share input 1 of s2. The third has a line of its own and gets a "
        "quarter of it, because its packets stand behind the others'; virtual output queues cure "
        "it with one click.",
        topology=lab.topology(next(run for run in lab.runs() if run.name == "fifo")),
        apps=senders,
        router="s2",
        port=CONGESTED,
        lesson="hol-blocking",
        # A full frame on the slow line, 1.2 ms, takes half a second of the viewer's.
        pace=2e-3,
        # The queues are full, as they stay.
        settled_ps=2 * PS_PER_S,
        group=GROUP,
    )


def _bufferbloat() -> Scenario:
    from labs.bufferbloat.lab import BOTTLENECK, Bufferbloat

    lab = Bufferbloat(Settings())
    return Scenario(
        name="bufferbloat",
        title="Bufferbloat",
        summary="A download, a web page and pings before a slow line: what a long queue costs, and "
        "what a shorter one or a second one changes.",
        topology=lab.topology(lab.runs()[0].parameters),
        # The line is empty: its lesson starts the download.
        apps=(),
        router="s1",
        port=BOTTLENECK,
        lesson="bufferbloat",
        pace=0.2,
        settled_ps=PS_PER_S // 10,
        group=GROUP,
    )


def _link_sharing() -> Scenario:
    from labs.link_sharing.lab import LINE, LinkSharing

    # A line on which a frame takes long enough to be seen, as in the lab's quick runs.
    lab = LinkSharing(Settings(quick=True))
    return Scenario(
        name="link-sharing",
        title="Link sharing",
        summary="Two hosts on one line: one FIFO, weights, priority, shapers. Who gets how much?",
        topology=lab.topology(next(run for run in lab.runs() if run.name == "fifo")),
        apps=_flows(("h1", "h3"), ("h2", "h4"), congestion="cubic"),
        router="s1",
        port=LINE,
        lesson="link-sharing",
        pace=0.05,
        settled_ps=3 * PS_PER_S,
        group=GROUP,
    )


def _queue_management() -> Scenario:
    from labs.bufferbloat.lab import BOTTLENECK, Bufferbloat

    lab = Bufferbloat(Settings(rate_bps=10_000_000, queue_packets=200))
    return Scenario(
        name="queue-management",
        title="Queue management",
        summary="Two flows before one long queue: RED, CoDel, PIE and marks instead of drops, side "
        "by side with their decision variables.",
        topology=lab.topology(lab.runs()[0].parameters),
        apps=_flows(("h1", "h2"), ("h1", "h2"), congestion="cubic"),
        router="s1",
        port=BOTTLENECK,
        lesson="queue-management",
        pace=0.05,
        settled_ps=4 * PS_PER_S,
        group=GROUP,
    )


def _flows(*ends: tuple[str, str], congestion: str) -> Sequence[App]:
    """TCP from one to the other of each pair."""
    return [
        app
        for number, (source, target) in enumerate(ends)
        for app in tcp(source, target, _FIRST_PORT + number, congestion)
    ]


LESSONS: Mapping[str, Callable[[], Scenario]] = {
    "hol-blocking": _hol_blocking,
    "bufferbloat": _bufferbloat,
    "link-sharing": _link_sharing,
    "queue-management": _queue_management,
}
