"""The networks of the labs on what a router does: queues, marks, shared memory, crossbar."""

from __future__ import annotations

from collections.abc import Sequence

from labs.bench import FIRST_BURST_PORT, FIRST_IPERF_PORT
from labs.committed_rates import lab as rates
from labs.committed_rates.theory import ALICE_BPS, BOB_BPS
from labs.crossbar_arbiters import lab as arbiters
from labs.declared import from_file as declared
from labs.frames import FRAME_BYTES, MTU_BYTES, queue_delay_s
from labs.scenarios.scenario import PS_PER_S, App, Scenario, bursts, ping, tcp
from labs.schedulers import lab as schedulers
from labs.settings import Settings
from labs.shared_buffer import lab as sharing
from labs.speedup import lab as speedup
from labs.world import World

_QUICK = Settings(quick=True)


def _schedulers() -> Scenario:
    lab = schedulers.Schedulers(_QUICK)
    floods: list[App] = []
    senders = (("h1", schedulers.SMALL_BYTES), ("h2", FRAME_BYTES))
    for number, (host, frame_bytes) in enumerate(senders):
        payload_bytes = frame_bytes - schedulers.HEADERS_BYTES
        burst, gap_s = lab.flood(frame_bytes)
        floods += bursts(
            *(host, "h4", FIRST_BURST_PORT + number),
            payload_bytes=payload_bytes,
            datagrams=burst,
            bps=round(burst * payload_bytes * 8 / gap_s),
        )
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="Small packets, large ones and a ping, a queue each. Weighted round robin takes a "
        "packet from each in turn: see what is left for the small ones, and make it DRR or WFQ.",
        topology=lab.topology("wrr"),
        apps=[*floods, ping("h3", "h4")],
        router="s1",
        port=schedulers.LINE,
        rules=[("s1", schedulers.RULES)],
        lesson=lab.name,
        pace=2e-2,
    )


def _shared_buffer() -> Scenario:
    lab = sharing.SharedBuffer(_QUICK)
    payload_bytes = MTU_BYTES - sharing.HEADERS_BYTES
    flood, hogged = sharing.HOG
    flood_gap_s = sharing.AT_ONCE * queue_delay_s(1, sharing.LINE_BPS) / sharing.FLOOD
    apps = bursts(
        *(flood, hogged, FIRST_BURST_PORT),
        payload_bytes=payload_bytes,
        datagrams=sharing.AT_ONCE,
        bps=round(sharing.AT_ONCE * payload_bytes * 8 / flood_gap_s),
    )
    for number, host in enumerate(sharing.INCAST, 1):
        apps += bursts(
            *(host, sharing.VICTIM, FIRST_BURST_PORT + number),
            payload_bytes=payload_bytes,
            datagrams=sharing.BURST,
            bps=round(sharing.BURST * payload_bytes * 8 / sharing.BURST_GAP_S),
        )
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="All queues share one memory, and a flood toward h8 holds it: bursts toward h5 "
        "find no room, although their own line is idle. Give the queues thresholds, alpha = 1.",
        topology=lab.topology("complete"),
        apps=apps,
        router="s1",
        port=sharing.PORTS[sharing.VICTIM],
        lesson=lab.name,
        pace=1e-2,
    )


def _management() -> Scenario:
    lab = declared.named("queue-management")(_QUICK)
    return Scenario(
        # The lesson on queue management has the lab's name.
        name="active-queue-management",
        title=lab.title,
        summary="Four downloads fill a queue of 400 packets, and a ping stands in it. Let RED, PIE "
        "or CoDel manage the queue, and see what each of them does to the ping and to the line.",
        topology=lab.topology("tail"),
        apps=[
            app
            for number, flow in enumerate(lab.flows("tail"))
            for app in tcp(flow.source, flow.target, FIRST_IPERF_PORT + number, flow.congestion)
        ]
        + [ping("h2", "h3")],
        router="s1",
        port=lab.place.port,
        pace=1e-2,
        settled_ps=3 * PS_PER_S,
    )


def _marking() -> Scenario:
    # Only hosts in virtual time have Prague.
    lab = declared.named("marking")(Settings(quick=True, world=World.VIRTUAL))
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="DualPI2 keeps a queue for each kind of flow: Prague's packets are marked early "
        "and wait for a millisecond, Cubic's for fifteen, and neither starves.",
        topology=lab.topology("l4s"),
        apps=[
            app
            for number, flow in enumerate(lab.flows("l4s"))
            for app in tcp(flow.source, flow.target, FIRST_IPERF_PORT + number, flow.congestion)
        ],
        router="s1",
        port=lab.place.port,
        pace=5e-3,
        settled_ps=4 * PS_PER_S,
    )


def _committed_rates() -> Scenario:
    lab = rates.CommittedRates(_QUICK)
    (part,) = (each for each in rates.PARTS if each.name == "blind")
    senders = (("h1", ALICE_BPS), ("h2", BOB_BPS))
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="Alice keeps to what she pays for, Bob does not; a program for PSA meters both. "
        "The provider's meter is blind for colours: let its contracts call meter_aware instead.",
        topology=lab.topology(),
        apps=[
            app
            for number, (host, bps) in enumerate(senders)
            for app in bursts(
                *(host, "h3", FIRST_BURST_PORT + number),
                payload_bytes=rates.PAYLOAD_BYTES,
                datagrams=1,
                bps=bps,
            )
        ],
        router="s2",
        port=rates.LINE[1],
        filling=[
            ("s1", lab.meter_customers),
            ("s2", lambda provider: lab.meter_both(provider, part)),
        ],
        pace=2e-2,
    )


def _arbiters() -> Scenario:
    lab = arbiters.CrossbarArbiters(_QUICK)
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="Two flows and a ping come by three inputs and want one output. iSLIP gives each "
        "its turn; let the longest queue cross first, and the ping waits for ever.",
        topology=lab.topology("islip"),
        apps=[
            *tcp("h1", "h4", FIRST_IPERF_PORT, "reno"),
            *tcp("h2", "h4", FIRST_IPERF_PORT + 1, "reno"),
            ping("h3", "h4"),
        ],
        router="s1",
        port=arbiters.OUTPUT,
        lesson=lab.name,
        pace=5e-3,
    )


def _speedup() -> Scenario:
    lab = speedup.Speedup(_QUICK)
    flows = [(source, target) for source in ("h1", "h2") for target in speedup.OUTPUTS]
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="Four flows stand in one another's way in FIFO queues before the crossbar. Make it "
        "twice as fast as its lines, and the queues move behind it.",
        topology=lab.topology("one"),
        apps=[
            app
            for number, (source, target) in enumerate(flows)
            for app in tcp(source, target, FIRST_IPERF_PORT + number, "reno")
        ],
        router="s1",
        port=speedup.OUTPUTS["h3"],
        pace=5e-3,
        settled_ps=2 * PS_PER_S,
    )


def router_labs() -> Sequence[Scenario]:
    """All of them, in the order of the labs."""
    return (
        _schedulers(),
        _shared_buffer(),
        _management(),
        _marking(),
        _committed_rates(),
        _arbiters(),
        _speedup(),
    )
