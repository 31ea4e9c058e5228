"""The networks of the labs on telemetry, whose routers speak INT."""

from __future__ import annotations

from collections.abc import Sequence

from apps import domain as domains
from labs.bench import FIRST_BURST_PORT, FIRST_IPERF_PORT
from labs.int_microburst import lab as microburst
from labs.scenarios.scenario import Scenario, bursts, tcp
from labs.settings import Settings
from labs.where_was_it_dropped import lab as dropped
from labs.worlds.virtual import telemetry

_QUICK = Settings(quick=True)
_MBPS = 1_000_000


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


def telemetry_labs() -> Sequence[Scenario]:
    """Both."""
    return (_microburst(), _dropped())
