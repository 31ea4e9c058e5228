"""A network whose routers are led by submissions.

The routers run the kit's program. What it sends to its controller is handed to the submission's
process, and what that does is done to the router. In virtual time that is before time goes on: so
a run is the same each time, however slow the machine is. A controller is 0 to 10 ms away.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import TypeAlias

from controller.compiling import find
from controller.entries import Call, Entry, Lpm
from controller.errors import ControllerError
from controller.p4info import P4Info
from controller.session import Packet, Session
from controller.toolchain import Toolchain
from course.exercise import Work
from course.exercises.control_plane.process import Act, Asked, Control, Port, Sent, running
from course.story import Refused, Story
from course.tools.net import Network
from course.tools.network import network
from topo.model import End, Switch, Topology

TABLE, KEY = "ipv4_routes", "hdr.ipv4.dst_addr"
STEP_S = 0.010
_TICK_STEPS = 5
# A control plane with more acts in one second is taken for an endless loop: five routers led by the
# reference do 420 things in their first, and 70 in one without news.
_ACTS_MAX = 3000


# A router's program: names, and the program itself.
Compiled: TypeAlias = tuple[P4Info, bytes]


@dataclass(frozen=True)
class Hop:
    """Where a router sends what is for a network."""

    port: int
    mac: int


def program() -> Compiled:
    """The kit's router, compiled."""
    return Toolchain.VITRINE.compiled(find("router"))


def asked_of(
    of: Topology,
    *,
    costs: Mapping[tuple[str, int], int] | None = None,
    static: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    routing: bool = True,
) -> list[Asked]:
    """The configuration of each router of a topology. Ports toward routers speak link state, or
    none."""
    found = []
    for switch in of.switches:
        ports = []
        for port in switch.ports:
            to_router = of.neighbour(End(switch.name, port.number)).port is not None
            cost = (costs or {}).get((switch.name, port.number), 1)
            address = IPv4Interface(str(port.addresses[0]))
            ports.append(Port(port.number, port.mac, address, cost, routing and to_router))
        ways = tuple(
            (IPv4Network(prefix), IPv4Address(hop))
            for prefix, hop in (static or {}).get(switch.name, ())
        )
        name = f"10.255.0.{switch.name.removeprefix('s')}"
        found.append(Asked(switch.name, name, tuple(ports), ways))
    return found


@dataclass
class Fabric:
    """The network, and the processes that lead its routers."""

    net: Network
    controls: Mapping[str, Control]
    # The routes of each router, as they were written.
    tables: dict[str, dict[IPv4Network, Hop]] = field(default_factory=dict)
    # Frames and entries by second.
    _acts: dict[int, int] = field(default_factory=dict)
    _steps: int = 0

    @property
    def now_s(self) -> float:
        """How long the network has been up."""
        return round(self.net.now_s, 3)

    def begin(self) -> None:
        """Makes every control plane."""
        for name, control in self.controls.items():
            self.tables[name] = {}
            self._do(name, control.begin())
        self.net.settle()

    def let_pass(self, seconds: float) -> None:
        """Lets time pass, and control planes act in it."""
        until_s = self.net.now_s + seconds
        while self.net.now_s < until_s - STEP_S / 2:
            self.net.let_pass(STEP_S)
            self._steps += 1
            for name, packet in self.net.handed_up():
                port, reason = (int(str(packet.metadata[each])) for each in _METADATA)
                self._do(name, self.controls[name].packet(self.now_s, port, reason, packet.payload))
            if self._steps % _TICK_STEPS == 0:
                for name, control in self.controls.items():
                    self._do(name, control.tick(self.now_s))
            self.net.settle()

    def _do(self, name: str, acts: Sequence[Act]) -> None:
        session = self.net.sessions[name]
        second = int(self.now_s)
        self._acts[second] = self._acts.get(second, 0) + len(acts)
        if self._acts[second] > _ACTS_MAX:
            raise Refused(
                Story(
                    done=f"{len(self.controls)} routers were led by the submission for "
                    f"{self.now_s:.2f} s.",
                    expected=f"No more than {_ACTS_MAX} frames and entries in a second, of all "
                    "together.",
                    because="What a message sets off must end: only news are passed on, and not "
                    "to the one who told. Else an advert goes round for ever.",
                    came=f"{self._acts[second]} in the second that began at {second} s; the last "
                    f"were {name}'s.",
                )
            )
        for act in acts:
            if isinstance(act, Sent):
                self.net.send(name, Packet(act.frame, {"egress_port": act.port}))
                continue
            write = {
                "insert": session.insert,
                "modify": session.modify,
                "delete": session.delete,
            }[act.kind]
            try:
                write([act.entry])
            except ControllerError as error:
                raise Refused(
                    Story(
                        done=f"At {self.now_s:.2f} s {name}'s control plane did: {act.kind} "
                        f"{act.entry}.",
                        expected="The router to take it.",
                        because="P4Runtime specification, section 12.1: INSERT is for entries that "
                        "are not there, MODIFY and DELETE for those that are.",
                        came=f"{error}.".replace("..", "."),
                    )
                ) from error
            self._note(name, act.kind, act.entry)

    def _note(self, name: str, kind: str, entry: Entry) -> None:
        if entry.table != TABLE:
            return
        network_ = network_of(entry)
        table = self.tables[name]
        if kind == "delete":
            table.pop(network_, None)
        elif isinstance(entry.call, Call) and "dst_addr" in entry.call.args:
            args = entry.call.args
            table[network_] = Hop(int(str(args["port"])), int(str(args["dst_addr"])))
        else:
            table.pop(network_, None)


_METADATA = ("ingress_port", "reason")


def network_of(entry: Entry) -> IPv4Network:
    """The network that a route is for."""
    match = (entry.match or {}).get(KEY)
    if isinstance(match, Lpm):
        return IPv4Network((int(match.value), match.prefix_len))  # type: ignore[arg-type]
    return IPv4Network("0.0.0.0/0")


@contextlib.contextmanager
def led(
    work: Work,
    of: Topology,
    asked: Sequence[Asked],
    folder: Callable[[str], Path],
    *,
    film: str,
    own: Mapping[str, Compiled] | None = None,
) -> Iterator[Fabric]:
    """A network whose router `name` is led by the files in `folder(name)`.

    It runs the kit's program, or what `own` has for it.
    """
    kits, own = program(), own or {}

    def load(switch: Switch, session: Session) -> None:
        session.load(*own.get(switch.name, kits))
        if switch.name not in own:
            session.modify([Entry(TABLE, None, Call("no_route"))])

    with contextlib.ExitStack() as stack:
        net = stack.enter_context(network(work, of, load, film=film))
        led_by = [(each, folder(each.name), own.get(each.name, kits)[0]) for each in asked]
        controls = stack.enter_context(running(work, led_by))
        fabric = Fabric(net, {each.asked.name: each for each in controls})
        fabric.begin()
        yield fabric
