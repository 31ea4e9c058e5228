"""The Python classes that decide in a network: where they stand in its topology.

Whoever lives in real time refuses them: nobody waits for a class there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vitrine.v1 import world_pb2

from controller.decider import Decider
from controller.queueing import Groups, RouterSettings
from topo.errors import ModelError
from topo.model import Topology


def invitations(device_id: int, settings: RouterSettings) -> Iterator[world_pb2.InviteRequest]:
    """The invitations by which the classes of a router's settings decide in a world."""

    def request(decider: Decider, **part: object) -> world_pb2.InviteRequest:
        return world_pb2.InviteRequest(device_id=device_id, decider=str(decider), **part)

    if settings.input is not None and settings.input.decider is not None:
        yield request(settings.input.decider, arbiter=True)
    for number, port in sorted(settings.ports.items()):
        if isinstance(port.scheduler, Groups):
            for group in port.scheduler.groups:
                if group.decider is not None:
                    yield request(group.decider, scheduler=number)
        classes = range(port.queue_count or 1)
        queues = dict.fromkeys(classes, port.every_queue)
        own = {class_: queue for class_, queue in port.queues.items() if queue.aqm is not None}
        for class_, queue in sorted({**queues, **own}.items()):
            if queue is not None and isinstance(queue.aqm, Decider):
                place = world_pb2.InviteRequest.Queue(port=number, **{"class": class_})
                yield request(queue.aqm, aqm=place)


def of(topology: Topology) -> Iterator[tuple[str, Decider]]:
    """All of them, with the name of the host or router that they are of."""
    for host in topology.hosts:
        found = Decider.parse(host.tcp.congestion or "", Path())
        if found is not None:
            yield host.name, found
    for switch in topology.switches:
        for each in invitations(switch.device_id, switch.settings):
            found = Decider.parse(each.decider, Path())
            assert found is not None, "it was one"
            yield switch.name, found


def folders(topology: Topology) -> set[Path]:
    """Where their files lie."""
    return {decider.file.parent for _, decider in of(topology)}


def refuse(topology: Topology) -> None:
    """Raises if there is any."""
    for name, decider in of(topology):
        raise ModelError(
            f"{name}: {decider} decides only in virtual time, where everything waits for it: say "
            "--world virtual."
        )
