"""Fills what p4src/programs/balancing_router.p4 has beside routes: paths, edges, and how to choose.

    session.insert(balancing.entries(topology, switch))
    session.modify(balancing.choice(Method.CONGESTION_AWARE, tell_from_packets=40))

The paths of a group of next hops are numbered in the order of their ports; routes refer to groups
by the numbers of `apps.router`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from itertools import chain

from apps import router
from controller.entities import CloneSession, Item
from controller.entries import Call, Entry, Exact
from controller.p4info import P4Info
from topo import paths
from topo.model import End, Switch, Topology

_GROUPS = "path_groups"
# FEEDBACK_SESSIONS of queue_telling.p4: the session of a port is this and its number.
_SESSIONS = 1000
# A full path is reported at most this often, and counts as full for this long.
TELL_EVERY_S, RECENT_S = 0.010, 0.100
_US_PER_S = 1e6


class Method(IntEnum):
    """How a path is chosen, by the numbers of balancing.p4."""

    ECMP = 0
    FLOWLETS = 1
    CONGESTION_AWARE = 2


def can_balance(program: P4Info) -> bool:
    """Whether a program has what this module fills."""
    return any(table.name.endswith(f".{_GROUPS}") for table in program.tables)


def entries(topology: Topology, switch: Switch) -> list[Item]:
    """The part that does not depend on the method: paths, ports with hosts, ways back for
    feedback."""
    groups = router.groups(paths.routes(topology, switch))
    items = list(chain.from_iterable(_paths(hops, number) for hops, number in groups.items()))
    for port in switch.ports:
        if topology.neighbour(End(switch.name, port.number)).port is None:
            key = Exact(port.number)
            items.append(
                Entry("from_hosts", {"standard_metadata.ingress_port": key}, Call("enter"))
            )
            items.append(Entry("to_hosts", {"standard_metadata.egress_spec": key}, Call("leave")))
        else:
            items.append(CloneSession(_SESSIONS + port.number, (port.number,)))
    return items


def _paths(hops: Sequence[paths.Hop], group: int) -> list[Item]:
    items: list[Item] = [
        Entry(_GROUPS, {"meta.next_hop_group": Exact(group)}, Call("has_paths", count=len(hops)))
    ]
    for path, (hop, following) in enumerate(zip(hops, [*hops[1:], hops[0]], strict=True)):
        call = Call(
            "take_path",
            port=hop.port,
            src_addr=hop.src_mac,
            dst_addr=hop.dst_mac,
            next_port=following.port,
        )
        key = {"meta.next_hop_group": Exact(group), "meta.balancing.path": Exact(path)}
        items.append(Entry("paths", key, call))
    return items


def choice(
    method: Method, *, pause_s: float = 0.0, hold_s: float = 0.0, tell_from_packets: int = 0
) -> list[Item]:
    """The default entries that say how a path is chosen, and from which depth on a path is full.

    `pause_s` makes a flowlet, `hold_s` passes between two moves; 0 packets: nobody is told.
    """
    return [
        Entry(
            "balancing_method",
            None,
            Call(
                "balance",
                chosen=int(method),
                pause=_us(pause_s),
                recent=_us(RECENT_S),
                hold=_us(hold_s),
            ),
        ),
        Entry(
            "telling",
            None,
            Call("tell", from_packets=tell_from_packets, every=_us(TELL_EVERY_S)),
        ),
    ]


def _us(seconds: float) -> int:
    return round(seconds * _US_PER_S)
