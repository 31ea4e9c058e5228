"""The classics of the P4 project's tutorials, with programs of our own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from labs.bench import FIRST_IPERF_PORT
from labs.scenarios.scenario import PS_PER_S, App, Scenario, bursts, ping, tcp
from topo import load
from topo.model import Topology

GROUP = "Classics"
# As p4src/lib/trail.p4 has it.
_TRAIL_PORT = 5005


def _network(name: str) -> Topology:
    return load.load(Path(__file__).parent / "networks" / f"{name}.yaml")


def _basic() -> Scenario:
    return Scenario(
        name="basic-forwarding",
        title="Basic forwarding",
        summary="A router in forty lines: parse, look up a route, count the time to live down. "
        "Begin here to write your own.",
        topology=_network("basic"),
        apps=[*tcp("h1", "h3", FIRST_IPERF_PORT, "reno"), ping("h2", "h3")],
        router="s1",
        port=3,
        pace=5e-3,
        group=GROUP,
    )


def _firewall() -> Scenario:
    return Scenario(
        name="firewall",
        title="A firewall with memory",
        summary="h1 and h2 may begin conversations, h3 may only answer: s1 remembers flows in a "
        "Bloom filter of registers. h3 knocks at h2 in vain.",
        topology=_network("firewall"),
        apps=[
            *tcp("h1", "h3", FIRST_IPERF_PORT, "reno"),
            *tcp("h3", "h2", FIRST_IPERF_PORT + 1, "reno"),
            ping("h3", "h1"),
        ],
        router="s1",
        port=3,
        pace=5e-3,
        group=GROUP,
    )


def _balancing() -> Scenario:
    flows = (("h1", "h3"), ("h1", "h4"), ("h2", "h3"), ("h2", "h4"))
    return Scenario(
        name="load-balancing",
        title="Load balancing over two ways",
        summary="Two ways are equally good, and a hash of each flow picks one: four flows, and "
        "chance decides how evenly they share. Change what the hash covers, in control/routing.p4.",
        topology=_network("two_ways"),
        apps=[
            app
            for number, (source, target) in enumerate(flows)
            for app in tcp(source, target, FIRST_IPERF_PORT + number, "cubic")
        ],
        router="s1",
        port=3,
        pace=5e-3,
        settled_ps=2 * PS_PER_S,
        group=GROUP,
    )


def _ecn() -> Scenario:
    return Scenario(
        name="ecn",
        title="Marking instead of dropping",
        summary="The queue marks packets from eight on, the program writes the mark into IPv4, and "
        "DCTCP slows down by as much as it is marked: a short queue and a busy line.",
        topology=_network("ecn"),
        apps=[
            *tcp("h1", "h3", FIRST_IPERF_PORT, "dctcp"),
            *tcp("h2", "h3", FIRST_IPERF_PORT + 1, "dctcp"),
        ],
        router="s1",
        port=3,
        pace=5e-3,
        group=GROUP,
    )


def _tunnel() -> Scenario:
    return Scenario(
        name="tunnel",
        title="A tunnel along the other way",
        summary="The short way from s1 to s5 is slow. s1 puts what h1 sends into packets for s3, "
        "which takes it out again; h2's goes the short way. s2, between the two, knows of nothing.",
        topology=_network("tunnel"),
        apps=[
            *tcp("h1", "h3", FIRST_IPERF_PORT, "cubic"),
            *tcp("h2", "h3", FIRST_IPERF_PORT + 1, "cubic"),
        ],
        router="s1",
        port=4,
        pace=5e-3,
        group=GROUP,
    )


def _probes() -> list[App]:
    """From one end to the other, a hundred a second."""
    return bursts("h1", "h4", _TRAIL_PORT, payload_bytes=64, datagrams=1, bps=51_200)


def _route_inspection() -> Scenario:
    return Scenario(
        name="route-inspection",
        title="Probes that tell their way",
        summary="Each router writes into h1's probes by which port they leave and how long they "
        "waited: click one that reaches s3 and read its hops. Which queue do they wait in?",
        topology=_network("mri"),
        apps=[
            *tcp("h2", "h3", FIRST_IPERF_PORT, "reno"),
            *tcp("h3", "h5", FIRST_IPERF_PORT + 1, "cubic"),
            *_probes(),
        ],
        router="s3",
        port=2,
        pace=5e-3,
        group=GROUP,
    )


def _link_monitor() -> Scenario:
    return Scenario(
        name="link-monitor",
        title="A link monitor",
        summary="Routers count the bytes of each line in registers, and probes carry the counts to "
        "h4: what a line carries, seen by a host that can ask no router.",
        topology=_network("link_monitor"),
        apps=[
            *tcp("h2", "h5", FIRST_IPERF_PORT, "reno"),
            *tcp("h3", "h5", FIRST_IPERF_PORT + 1, "cubic"),
            *_probes(),
        ],
        router="s3",
        port=2,
        pace=5e-3,
        group=GROUP,
    )


def classics() -> Sequence[Scenario]:
    """All of them, the simplest first."""
    return (
        _basic(),
        _firewall(),
        _balancing(),
        _ecn(),
        _tunnel(),
        _route_inspection(),
        _link_monitor(),
    )
