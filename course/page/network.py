"""A check's network in the page: that of `course.tools.virtual`, without threads and processes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from controller import compiling
from controller.errors import ControllerError
from controller.keeper import State
from controller.session import Session
from controller.stream import bid
from controller.world import PS_PER_S, World
from course.exercise import Work
from course.page.channel import Channel
from course.story import Refused
from course.tools.net import Load, told_when
from course.tools.world_network import WALL_S, VirtualNetwork, endless
from topo import world as messages
from topo.configuring import configure
from topo.model import Topology

_ELECTION_ID = 1
# The kit's programs in a page are compiled already, and their sources are empty (`handout`).
compiling.current = lambda source, defines=(), includes=(): compiling.stem_of(source, defines)


@contextlib.contextmanager
def page_network(
    work: Work, of: Topology, load: Load, *, seed: int = 1, film: str = ""
) -> Iterator[VirtualNetwork]:
    """A network whose routers `load` fills."""
    channel = Channel(WALL_S)
    try:
        world = World(channel)
        world.build(messages.message(of), seed)
        sessions = {}
        for switch in of.switches:
            session = sessions[switch.name] = _PageSession(channel, switch.device_id)
            load(switch, session)
            configure(switch, session)
        with told_when(film, lambda: world.look().time_ps / PS_PER_S):
            yield VirtualNetwork(world, of, sessions)
    except ControllerError:
        if not channel.is_late:
            raise
        raise Refused(endless()) from None


class _PageSession(Session):
    """A session whose device never goes away and has no other controller."""

    def __init__(self, channel: Channel, device_id: int) -> None:
        super().__init__(channel, "the page", device_id)
        self._keeper = _Keeper(self._stub, device_id)  # type: ignore[assignment]


class _Keeper:
    """Replaces `controller.keeper`: this connection is never lost."""

    def __init__(self, stub: object, device_id: int) -> None:
        self.election_id, self.state = _ELECTION_ID, State.READY
        self.stream = None
        self._call = stub.StreamChannel()  # type: ignore[attr-defined]
        self._call.say(bid(device_id, _ELECTION_ID))
        # The response says that this controller is primary; there is no other one.
        next(iter(self._call))

    def await_ready(self, deadline_s: float) -> None:
        """Returns at once: the session is always ready."""

    def has_lost(self, stream: object, error: Exception) -> bool:
        """Never."""
        return False

    def close(self) -> None:
        """Ends the stream."""
        self._call.cancel()
