"""Gives both routers of the scoreboard's network their programs and a system what it needs there.

The same in virtual time and live: sessions are all it knows of a router.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from apps.domain import Domain
from apps.programming import entries_for
from controller import compiling
from controller.entities import CloneSession
from controller.p4info import P4Info
from controller.queueing import RouterSettings
from controller.queues import Queues
from controller.session import Session
from controller.toolchain import Toolchain
from labs.score import in_band, memory, network
from labs.score.conductor import CPU_PORT
from labs.score.device import SessionDevice
from labs.score.line import Line
from labs.score.memory import Memory
from labs.score.system import System
from labs.score.systems import INCLUDES, sink_source, source
from topo import paths
from topo.model import Switch, Topology

# The register of main.p4, which every system's own program has.
WATCHED = "watched_port"


@dataclass(frozen=True)
class Programs:
    """Those of both routers, for one system on one line."""

    system: type[System]
    topology: Topology
    line: Line
    domain: Domain | None
    # By router.
    compiled: Mapping[str, tuple[P4Info, bytes]]

    @classmethod
    def of(cls, system: type[System], line: Line, topology: Topology | None = None) -> Programs:
        """Compiled for this line, if need be; the network is the whole one without another."""
        domain = in_band.DOMAIN if system.in_band else None
        if topology is None:
            topology = in_band.topology(line) if system.in_band else network.topology(line)
        router = system.compiled or _compiled(source(system), line)
        sink = _compiled(sink_source(system), line)
        return cls(system, topology, line, domain, {network.ROUTER: router, network.SINK: sink})

    def load(
        self, sessions: Mapping[str, Session], configure: Callable[[Switch, Session], None]
    ) -> None:
        """Loads the programs with their routes; `configure` sets queues and cables.

        Routes that lead to the controller are left out, since no system answers for the router.
        """
        for switch in reversed(self.topology.switches):
            session = sessions[switch.name]
            info, config = self.compiled[switch.name]
            written = entries_for(info, self.topology, switch, self.domain)
            session.load(info, config)
            session.insert(written.insert)
            session.modify(written.modify)
            configure(switch, session)

    def install(self, own: System, sessions: Mapping[str, Session]) -> SessionDevice:
        """Writes what the system needs; the router as its controller reaches it."""
        session = sessions[network.ROUTER]
        device = SessionDevice(session)
        if self._is_own:
            device.write(WATCHED, network.BOTTLENECK[0])
        own.write_tables(session, paths.routes(self.topology, self.topology.switch(network.ROUTER)))
        own.install(device)
        if own.sink:
            _install_sink(own, sessions[network.SINK])
        if own.reports and not own.in_band:
            session.insert([CloneSession(own.report_session, (CPU_PORT,))])
        if own.wants_drops:
            Queues(session).configure(RouterSettings(drop_mirror=own.report_session))
        return device

    @property
    def _is_own(self) -> bool:
        info, _ = self.compiled[network.ROUTER]
        return any(each.name.endswith(WATCHED) for each in info.registers)

    @property
    def memory(self) -> Memory:
        """The declared memory beyond that of a router."""
        used = memory.of(self.compiled[network.ROUTER][0], self.system.routing)
        if not self.system.compiled and source(self.system).parent == compiling.PROGRAMS:
            # The kit's router has tables that are for no telemetry.
            used -= memory.of(_router())
        if self.system.sink:
            used += memory.of(self.compiled[network.SINK][0])
        return used


def _install_sink(own: System, session: Session) -> None:
    """The second router watches its port to the receiver, and reports to the first one."""
    device = SessionDevice(session)
    device.write(WATCHED, network.SINK_TO_RECEIVER)
    session.insert([CloneSession(own.report_session, (network.SINK_TO_ROUTER,))])
    own.install_sink(device)


def _compiled(program: Path, line: Line) -> tuple[P4Info, bytes]:
    return Toolchain.VITRINE.compiled(program, line.defines, INCLUDES)


@functools.cache
def _router() -> P4Info:
    """The kit's router without telemetry."""
    return Toolchain.VITRINE.compiled("router")[0]
