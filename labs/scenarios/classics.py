"""The classics of the P4 project's tutorials, with programs of our own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labs.bench import FIRST_IPERF_PORT
from labs.scenarios.scenario import PS_PER_S, App, Scenario, bursts, ping, tcp
from topo import load

GROUP = "Classics"
# As p4src/lib/trail.p4 has it.
_TRAIL_PORT = 5005


def _classic(
    name: str,
    title: str,
    summary: str,
    network: str,
    apps: Sequence[App],
    *,
    router: str = "s1",
    port: int = 3,
    settled_ps: int = PS_PER_S,
) -> Scenario:
    """The common parts: a network of this folder, and a pace that lets packets be seen."""
    return Scenario(
        name=name,
        title=title,
        summary=summary,
        topology=load.load(Path(__file__).parent / "networks" / f"{network}.yaml"),
        apps=apps,
        router=router,
        port=port,
        pace=5e-3,
        settled_ps=settled_ps,
        group=GROUP,
    )


def _flows(*flows: tuple[str, str, str]) -> list[App]:
    """TCP flows: source, target, congestion control."""
    return [
        app
        for number, (source, target, congestion) in enumerate(flows)
        for app in tcp(source, target, FIRST_IPERF_PORT + number, congestion)
    ]


def _probes() -> list[App]:
    """From one end to the other, a hundred a second."""
    return bursts("h1", "h4", _TRAIL_PORT, payload_bytes=64, datagrams=1, bps=51_200)


def classics() -> Sequence[Scenario]:
    """All of them, the simplest first."""
    return (
        _classic(
            "basic-forwarding",
            "Basic forwarding",
            "A router in forty lines: parse, look up a route, count the time to live down. "
            "Begin here to write your own.",
            "basic",
            [*_flows(("h1", "h3", "reno")), ping("h2", "h3")],
        ),
        _classic(
            "firewall",
            "A firewall with memory",
            "h1 and h2 may begin conversations, h3 may only answer: s1 remembers flows in a "
            "Bloom filter of registers. h3 knocks at h2 in vain.",
            "firewall",
            [*_flows(("h1", "h3", "reno"), ("h3", "h2", "reno")), ping("h3", "h1")],
        ),
        _classic(
            "load-balancing",
            "Load balancing over two ways",
            "Two ways are equally good, and a hash of each flow picks one: four flows, and "
            "chance decides how evenly they share. Change what the hash covers, in "
            "control/routing.p4.",
            "two_ways",
            _flows(*((a, b, "cubic") for a in ("h1", "h2") for b in ("h3", "h4"))),
            settled_ps=2 * PS_PER_S,
        ),
        _classic(
            "ecn",
            "Marking instead of dropping",
            "The queue marks packets from eight on, the program writes the mark into IPv4, and "
            "DCTCP slows down by as much as it is marked: a short queue and a busy line.",
            "ecn",
            _flows(("h1", "h3", "dctcp"), ("h2", "h3", "dctcp")),
        ),
        _classic(
            "tunnel",
            "A tunnel along the other way",
            "The short way from s1 to s5 is slow. s1 puts what h1 sends into packets for s3, "
            "which takes it out again; h2's goes the short way. s2, between the two, knows of "
            "nothing.",
            "tunnel",
            _flows(("h1", "h3", "cubic"), ("h2", "h3", "cubic")),
            port=4,
        ),
        _classic(
            "route-inspection",
            "Probes that tell their way",
            "Each router writes into h1's probes by which port they leave and how long they "
            "waited: click one that reaches s3 and read its hops. Which queue do they wait in?",
            "mri",
            [*_flows(("h2", "h3", "reno"), ("h3", "h5", "cubic")), *_probes()],
            router="s3",
            port=2,
        ),
        _classic(
            "link-monitor",
            "A link monitor",
            "Routers count the bytes of each line in registers, and probes carry the counts to "
            "h4: what a line carries, seen by a host that can ask no router.",
            "link_monitor",
            [*_flows(("h2", "h5", "reno"), ("h3", "h5", "cubic")), *_probes()],
            router="s3",
            port=2,
        ),
    )
