"""A scenario as the page gets it: the messages that build it, in JSON.

    {"name", "title", "summary", "group", "lesson", "pace", "about": {"router", "port"},
     "network": as the page's scene has it,
     "build": a vitrine.v1.BuildRequest,
     "said": [[method, message], ...]             what controllers say, in this order
     "programs": {device id: "programs/router.p4"}
     "settled_ps": ...}

Messages are in base64. A SetForwardingPipelineConfig has no program in it: the page compiles that
itself, from the texts that everybody can change.
"""

from __future__ import annotations

import base64
import contextlib
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from p4.v1 import p4runtime_pb2
from vitrine.v1 import world_pb2

from controller.classes import entries
from controller.toolchain import ROOT
from controller.world import World
from labs import programming
from labs.glass.scene import network_of
from labs.programming import Programs
from labs.scenarios.recording import SET_CONFIG, Recorder, recorded
from labs.scenarios.scenario import P4_SOURCES, Scenario
from labs.worlds.virtual import server
from topo import world as messages
from topo.configuring import configure

PACKET_TESTS = ROOT / "tests" / "programs"
START = "/vitrine.v1.World/Start"


def written(scenario: Scenario, log: Path) -> dict[str, Any]:
    """Sets the scenario up once, in a world of its own, and writes down how."""
    topology = messages.numbered(scenario.topology)
    program = str(scenario.program) if scenario.program else None
    programs = Programs.compiled(topology, domain=scenario.domain, program=program)
    build = world_pb2.BuildRequest(topology=messages.message(topology), seed=scenario.seed)
    with (
        server.serving(log) as address,
        recorded(address) as recorder,
        World.connect(address) as world,
    ):
        world.build(build.topology, build.seed)
        addresses = dict.fromkeys((each.name for each in topology.switches), recorder.address)
        # That a small program has no tables for all that the kit's router has is as it should be.
        quietly = contextlib.redirect_stderr(io.StringIO())
        with (
            quietly,
            programming.programmed(
                programs, addresses, configure, serving=None, announced=False
            ) as sessions,
        ):
            for router, rules in scenario.rules:
                sessions[router].insert(entries(rules))
            for router, fill in scenario.filling:
                fill(sessions[router])
        for host, app in scenario.apps:
            # An impossible task for a host is found here, not by a reader who opens the page.
            world.start(host, app)
    return {
        "name": scenario.name,
        "title": scenario.title,
        "summary": scenario.summary,
        "group": scenario.group,
        "lesson": scenario.lesson,
        "pace": scenario.pace,
        "about": {"router": scenario.router, "port": scenario.port},
        "network": network_of(topology),
        "build": _text(build.SerializeToString(deterministic=True)),
        "said": [[method, _text(message)] for method, message in _said(scenario, recorder)],
        "programs": {
            str(each.device_id): name_of(programs.sources[each.name]) for each in topology.switches
        },
        "settled_ps": scenario.settled_ps,
    }


def _said(scenario: Scenario, recorder: Recorder) -> Iterator[tuple[str, bytes]]:
    for method, message in recorder.said:
        if method == SET_CONFIG:
            request = p4runtime_pb2.SetForwardingPipelineConfigRequest.FromString(message)
            request.ClearField("config")
            yield method, request.SerializeToString(deterministic=True)
        else:
            yield method, message
    for host, app in scenario.apps:
        yield START, world_pb2.StartRequest(host=host, app=app).SerializeToString()


def name_of(source: Path) -> str:
    """A program's name among the kit's sources."""
    return source.resolve().relative_to(P4_SOURCES).as_posix()


def sources() -> Mapping[str, str]:
    """The kit's P4 texts and their packet tests, by their names; those of the language itself the
    compiler has.
    """
    files = sorted(P4_SOURCES.rglob("*.p4"))
    names = {name_of(file): file for file in files}
    texts = {
        name: file.read_text() for name, file in names.items() if not name.startswith("include/")
    }
    return {**texts, **_tests()}


def _tests() -> Mapping[str, str]:
    """The packet tests of the kit's programs: `tests/router/ipv4.stf` is one of router.p4."""
    return {
        f"tests/{file.parent.name}/{file.name}": file.read_text()
        for file in sorted(PACKET_TESTS.glob("*/*.stf"))
    }


def _text(message: bytes) -> str:
    return base64.b64encode(message).decode()
