"""Gives routers that are up their sessions, programs, queues and entries: the same in any world."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from apps import reload, router, telemetry
from apps.domain import Domain
from apps.programming import Router, source_of
from controller import routers
from controller.session import Session
from controller.toolchain import ROOT, Toolchain
from labs.glass.scene import network_of
from topo.model import Switch, Topology

# Lets one router speak in its own name.
Serving: TypeAlias = Callable[
    [Session, Topology, Switch], contextlib.AbstractContextManager[router.Service]
]


@dataclass(frozen=True)
class Programs:
    """The programs for the routers of a network."""

    topology: Topology
    # The P4 source of each router, by name.
    sources: Mapping[str, Path]
    domain: Domain | None = None
    toolchain: Toolchain = Toolchain.VITRINE

    @property
    def folders(self) -> Sequence[str]:
        """Where its sources are that are not the kit's."""
        places = {source.resolve().parent for source in self.sources.values()}
        return sorted(str(each) for each in places if not each.is_relative_to(ROOT))

    @classmethod
    def compiled(
        cls,
        topology: Topology,
        *,
        domain: Domain | None = None,
        toolchain: Toolchain = Toolchain.VITRINE,
        program: str | None = None,
    ) -> Programs:
        """All routers run `program`, or each what the topology says, else the kit's router.

        With a telemetry domain that is the kit's router that speaks INT. A program that does not
        compile is the user's first mistake, so it is found before anything is built.
        """
        sources = {each.name: source_of(each, program, domain) for each in topology.switches}
        for source in sources.values():
            toolchain.compiled(source)
        return cls(topology, sources, domain, toolchain)


@contextlib.contextmanager
def programmed(
    programs: Programs,
    addresses: Mapping[str, str],
    configure: Callable[[Switch, Session], None],
    *,
    serving: Serving | None = router.serving,
    announced: bool = True,
    hosts: str = "",
    hosts_key: str = "",
) -> Iterator[Mapping[str, Session]]:
    """The session with each router, by name; `addresses` says where each of them answers.

    `configure` gives a router that has its program its queues and cables. For as long as the block
    runs routers speak in their own name, by `serving`: they answer pings and send errors.
    Routers that are `announced` are found by `vitrine top` and `vitrine reload` elsewhere;
    `hosts` is who tells of the hosts around them and, to who knows `hosts_key`, starts flows there.
    """
    topology, domain = programs.topology, programs.domain
    with contextlib.ExitStack() as stack:
        sessions, running = {}, []
        for switch in topology.switches:
            session = stack.enter_context(
                Session.connect(addresses[switch.name], device_id=switch.device_id)
            )
            running.append(
                Router(
                    *(session, topology, switch, programs.sources[switch.name]),
                    toolchain=programs.toolchain,
                    domain=domain,
                )
            )
            for remark in running[-1].start():
                print(f"[vitrine] {remark}", file=sys.stderr)
            configure(switch, session)
            if domain is not None:
                telemetry.mirror_drops(session, domain)
            if serving is not None:
                stack.enter_context(serving(session, topology, switch))
            sessions[switch.name] = session
        if announced:
            stack.enter_context(
                routers.announced(
                    addresses, network_of(topology), hosts, hosts_key, programs.folders
                )
            )
            stack.enter_context(reload.serving(running))
        yield sessions
