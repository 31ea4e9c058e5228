"""Networks of lessons, and all others of the gallery, in virtual time: each in a world of its own.

Time stands still but for what the page lets pass, so nothing is missed however slowly one looks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from controller.classes import entries
from controller.world import World
from labs import programming
from labs.glass.scene import Router, Scene, network_of
from labs.programming import Programs
from labs.scenarios.lessons import LESSONS
from labs.scenarios.scenario import Scenario
from labs.worlds.virtual import server
from topo import world as messages
from topo.configuring import configure

FIRST = "hol-blocking"
# The last part of the time in which a network settles passes before the page, as in
# glass/js/alone/scenario.js.
WATCHED_PS = 600 * 10**9


def named(name: str) -> Scenario:
    """A scenario by name, those of lessons without a look at all the others."""
    if name in LESSONS:
        return LESSONS[name]()
    # Imported here: it reads the networks of all labs, for which the first picture would wait.
    from labs.scenarios import catalogue

    return catalogue.named(name)


@contextlib.contextmanager
def showing(name: str, logs: Path) -> Iterator[Scene]:
    """A scenario, for the length of a `with` block."""
    scenario = named(name)
    topology = messages.numbered(scenario.topology)
    program = str(scenario.program) if scenario.program else None
    programs = Programs.compiled(topology, domain=scenario.domain, program=program)
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(server.serving(logs / "world.log"))
        world = stack.enter_context(World.connect(address))
        world.build(messages.message(topology), scenario.seed)
        addresses = {each.name: f"{address}/{each.device_id}" for each in topology.switches}
        sessions = stack.enter_context(
            programming.programmed(programs, addresses, configure, serving=None, announced=False)
        )
        for router, rules in scenario.rules:
            sessions[router].insert(entries(rules))
        for router, fill in scenario.filling:
            fill(sessions[router])
        for host, app in scenario.apps:
            world.start(host, app)
        world.advance(max(0, scenario.settled_ps - WATCHED_PS))
        yield Scene(
            world="virtual",
            routers=[Router(each.name, address, each.device_id) for each in topology.switches],
            network=network_of(topology),
            router=scenario.router,
            port=scenario.port,
            lesson=scenario.lesson or scenario.name,
            pace=scenario.pace,
            settled_ps=scenario.settled_ps,
            world_address=address,
            folders=programs.folders,
            is_driven=True,
        )
