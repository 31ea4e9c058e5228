"""The scenarios of the page, in the order of its gallery."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from labs.glass import virtual
from labs.scenarios.classics import classics
from labs.scenarios.router_labs import router_labs
from labs.scenarios.scenario import PS_PER_S, Scenario, tcp
from labs.scenarios.tcp_labs import tcp_labs
from labs.scenarios.telemetry_labs import telemetry_labs

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


@functools.cache
def scenarios() -> Sequence[Scenario]:
    """All of them."""
    return (
        *map(_lesson, _LESSONS),
        *tcp_labs(),
        *router_labs(),
        *telemetry_labs(),
        *classics(),
    )
