"""Whether a router answers on this machine at all, with nothing of a submission in it."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from controller.connection import open_channel
from controller.errors import ControllerError
from controller.session import Session
from controller.world import World
from course.tools.network import kits_router, topology
from labs.errors import LabError
from labs.worlds.virtual import server
from topo import world as messages
from topo.errors import TopologyError

_CONNECT_S = 60.0
_NETWORK = """
hosts: {h1: {address: 10.0.1.1/24}, h2: {address: 10.0.2.1/24}}
switches: {s1: {ports: {1: {address: 10.0.1.254/24}, 2: {address: 10.0.2.254/24}}}}
links: [[h1, "s1:1"], [h2, "s1:2"]]
"""


def router_answers() -> bool:
    """Starts a network of two hosts, and gives its router the kit's own program."""
    of = topology(_NETWORK)
    (switch,) = of.switches
    try:
        with contextlib.ExitStack() as stack:
            scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="vitrine-"))
            address = stack.enter_context(server.serving(Path(scratch) / "world.log"))
            channel = open_channel(address, _CONNECT_S)
            stack.callback(channel.close)
            World(channel).build(messages.message(of), 1)
            session = stack.enter_context(
                Session.connect(address, device_id=switch.device_id, deadline_s=_CONNECT_S)
            )
            kits_router(of)(switch, session)
    except (ControllerError, LabError, TopologyError, OSError):
        return False
    return True
