"""A check's network in virtual time: it stands still but for `let_pass`."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from controller.connection import open_channel
from controller.errors import ControllerError
from controller.routers import Up
from controller.session import Session
from controller.world import PS_PER_S, World
from course.exercise import Work
from course.films import Films
from course.story import Refused
from course.tools.net import Load, told_when
from course.tools.world_network import WALL_S, VirtualNetwork, endless
from labs.glass.scene import network_of
from labs.glass.tape import Tape, listening
from labs.worlds.virtual import server
from topo import world as messages
from topo.configuring import configure
from topo.model import Topology

# A machine that grades a class is busy: a world that starts late is not the submission's mistake.
_CONNECT_S = 60.0


@contextlib.contextmanager
def virtual_network(
    work: Work, of: Topology, load: Load, *, seed: int = 1, film: str = ""
) -> Iterator[VirtualNetwork]:
    """A network whose routers `load` fills. One that is busy for ever is refused in the end.

    What is refused inside gets the moment: the network's name is `film`, and the instant is now.
    """
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(server.serving(work.scratch / "world.log"))
        channel = open_channel(address, _CONNECT_S)
        stack.callback(channel.close)
        world = World(channel)
        world.build(messages.message(of), seed)
        sessions = {}
        for switch in of.switches:
            session = stack.enter_context(
                Session.connect(address, device_id=switch.device_id, deadline_s=_CONNECT_S)
            )
            load(switch, session)
            configure(switch, session)
            sessions[switch.name] = session
        tape = Tape(film)
        films = work.filming
        if films is not None and film:
            stack.enter_context(_filmed(address, of, tape, films))
        with (
            told_when(film, lambda: _now_s(world, tape)),
            in_time(channel.close),
            work.runner.clock.ends(channel.close),
        ):
            yield VirtualNetwork(world, of, sessions)


def _now_s(world: World, tape: Tape) -> float:
    """The network's current instant; for a network that has ended, the last one reported."""
    try:
        return world.look().time_ps / PS_PER_S
    except ControllerError:
        return last_told_s(tape)


def last_told_s(tape: Tape) -> float:
    """The last instant of which a network told."""
    return max((entry.time_ps for entry in tape.entries), default=0) / PS_PER_S


@contextlib.contextmanager
def in_time(end: Callable[[], None]) -> Iterator[None]:
    """Ends a network that takes too long, and refuses it."""
    is_late = threading.Event()

    def late() -> None:
        is_late.set()
        end()

    watchdog = threading.Timer(WALL_S, late)
    watchdog.start()
    try:
        yield
    except ControllerError:
        if not is_late.is_set():
            raise
        raise Refused(endless()) from None
    finally:
        watchdog.cancel()


@contextlib.contextmanager
def _filmed(address: str, of: Topology, tape: Tape, films: Films) -> Iterator[None]:
    """Keeps what happens in a network, also if it is refused."""
    routers = {each.name: f"{address}/{each.device_id}" for each in of.switches}
    try:
        with listening(tape, Up(routers, network=network_of(of))):
            yield
    finally:
        films.add(tape.title, tape)
