"""Python classes that decide for routers and hosts of a virtual network: docs/insides.md."""

from __future__ import annotations

from controller.world import World
from topo import deciders
from topo.model import Topology


def invite(world: World, topology: Topology) -> None:
    """Puts the classes of the topology into the places that its settings name.

    The routers have been configured, and nothing has been sent yet.
    """
    for switch in topology.switches:
        for request in deciders.invitations(switch.device_id, switch.settings):
            world.invite(request)
