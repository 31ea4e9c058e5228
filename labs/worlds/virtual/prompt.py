"""A prompt on a network in virtual time, with the commands of Mininet's that one types most.

    h1 ping -c 3 h2          programs of hosts: ping, traceroute, iperf3, ss; with & they run on
    speed 10                 ten seconds of the network in one of ours

Time passes by itself, also while nobody types.
"""

from __future__ import annotations

import cmd
import contextlib
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from vitrine.v1 import world_pb2

from apps.domain import Domain
from controller.addresses import Way
from controller.errors import ControllerError
from controller.world import PS_PER_S, World
from labs import programming
from labs.programming import Programs
from labs.worlds.virtual import deciders, options, server, tools
from labs.worlds.virtual.options import OptionError
from labs.worlds.virtual.telemetry import ReportWatch
from labs.worlds.virtual.tools import Tool
from topo import deciders as classes
from topo import units
from topo import world as messages
from topo.backend import on_loopback
from topo.configuring import configure
from topo.errors import TopologyError
from topo.model import End, Switch, Topology
from topo.preflight import check_port_free

SEED = 1
# How long a ping of `pingall` waits for an answer, in the network's time.
ANSWER_NS = 1_000_000_000
FASTEST = "max"
HELP = """\
HOST ping [-c COUNT] [-i SECONDS] [-s BYTES] [-t HOPS] TARGET
HOST traceroute [-q COUNT] [-m HOPS] TARGET
HOST iperf3 -c TARGET [-t SECONDS | -n BYTES] [-C ALGORITHM] [-R] [-P FLOWS] [-b RATE] [-p PORT]
HOST iperf3 -u -c TARGET [-b RATE] [-l BYTES] [-t SECONDS]
HOST ss -ti                its TCP connections
... &                      behind a program: it runs on while you go on
jobs                       what runs on, and what has ended since you asked last
pingall                    every host pings every other one
nodes, links               what there is
link A B down, link A B up a cable is cut, and mended
speed 10, speed max        how fast time passes; speed 0 stops it
reports                    what the routers have reported to the collector of the domain
advance 5                  while it stands: lets 5 s pass
time                       the network's time
exit, or Ctrl-D            takes the network down
In another terminal: vitrine top, vitrine shell, vitrine trace, vitrine reload."""


def run(
    topology: Topology,
    *,
    logs: Path,
    domain: Domain | None,
    program: str | None,
    way: Way,
    welcome: Callable[[Sequence[str]], str],
) -> None:
    """Builds the network, greets, and takes commands until they end.

    `welcome` is given where each router answers.
    """
    topology = messages.numbered(topology)
    programs = Programs.compiled(topology, domain=domain, program=program)
    wanted = messages.message(topology)
    with contextlib.ExitStack() as stack:
        folders = {*classes.folders(topology), Path.cwd()}
        place = _place(topology.switches[0], way)
        serving = server.serving(logs / "world.log", place, classes=folders)
        address = stack.enter_context(serving)
        world = stack.enter_context(World.connect(address))
        world.build(wanted, SEED)
        addresses = {each.name: f"{address}/{each.device_id}" for each in topology.switches}
        stack.enter_context(programming.programmed(programs, addresses, configure))
        deciders.invite(world, topology)
        print(welcome(list(addresses.values())))
        reports = None
        if domain is not None:
            reports = ReportWatch(world, domain)
            stack.enter_context(reports)
            print(f"Reports come to {domain.collector}: `reports` shows them.")
        prompt = Prompt(topology, world, reports)
        prompt.onecmd("speed 1")
        prompt.cmdloop()


def _place(first: Switch, way: Way) -> str | None:
    """The address of all routers: the first one's port if a port is given, else a socket."""
    if way is Way.SOCKET and not first.is_on_tcp:
        return None
    check_port_free(first.grpc_port, first.name)
    return on_loopback(first.grpc_port)


class Prompt(cmd.Cmd):
    """Takes commands; each prints what it has to say and returns to the prompt."""

    def __init__(
        self, topology: Topology, world: World, reports: ReportWatch | None = None
    ) -> None:
        super().__init__()
        self._topology = topology
        self._world = world
        self._reports = reports
        self._hosts = {host.name for host in topology.hosts}
        self._running: dict[str, Tool] = {}
        # Seconds of the network in one of ours; None: no limit, 0: time stands.
        self._speed: Fraction | None = Fraction(0)
        self._set_prompt()

    # ---- how commands are taken ------------------------------------------------------------------

    def onecmd(self, line: str) -> bool:
        """Carries out one line; what goes wrong with it is a sentence, not the end."""
        try:
            return bool(super().onecmd(line))
        except (OptionError, ControllerError, TopologyError) as error:
            print(error)
        except KeyboardInterrupt:
            print()
        return False

    def default(self, line: str) -> None:
        """`HOST PROGRAM ...`"""
        words = _words(line)
        if words[0] not in self._hosts:
            raise OptionError(
                f"there is no command and no host {words[0]!r}; `help` lists commands, `nodes` "
                "hosts."
            )
        if len(words) == 1:
            raise OptionError(f"what is {words[0]} to do? Such as: {words[0]} ping -c 3 ...")
        background = words[-1] == "&"
        host, name, *arguments = words[:-1] if background else words
        if name == "ss":
            self._ss(host)
            return
        start = self._program(host, name, arguments)
        if start is None:
            return
        if background:
            self._running[line.rstrip(" &")] = start()
        else:
            self._follow(start)

    def emptyline(self) -> bool:
        """Nothing, where cmd would do the last command again."""
        return False

    def postcmd(self, stop: bool, line: str) -> bool:
        """The prompt tells the network's time."""
        if not stop:
            self._set_prompt()
        return stop

    def cmdloop(self, intro: object = None) -> None:
        """Until Ctrl-D or `exit`; Ctrl-C ends a command, not the network."""
        while True:
            try:
                super().cmdloop()
                return
            except KeyboardInterrupt:
                print()

    def completenames(self, text: str, *ignored: object) -> list[str]:
        """Commands and hosts."""
        hosts = (host for host in self._hosts if host.startswith(text))
        return [*super().completenames(text), *sorted(hosts)]

    def _set_prompt(self) -> None:
        time_s = self._world.look().time_ps / PS_PER_S
        self.prompt = f"{time_s:.1f} s> "

    # ---- programs of hosts -----------------------------------------------------------------------

    def _program(self, host: str, name: str, arguments: Sequence[str]) -> Callable[[], Tool] | None:
        """The start of a program; None: there is nothing to start."""
        kind: type[tools.Ping | tools.Traceroute | tools.Transfer | tools.Datagrams]
        if name == "ping":
            kind, given = tools.Ping, options.read(options.PING, arguments)
        elif name == "traceroute":
            kind, given = tools.Traceroute, options.read(options.TRACEROUTE, arguments)
        elif name == "iperf3":
            given = options.read(options.IPERF, arguments)
            if given.is_server:
                print(f"{host} serves whoever comes: say HOST iperf3 -c {host}.")
                return None
            if given.target is None:
                raise OptionError("iperf3: to whom? Say -c HOST.")
            kind = tools.Datagrams if given.is_udp else tools.Transfer
        else:
            raise OptionError(
                f"hosts in virtual time have no {name}; they have ping, traceroute, iperf3 and "
                "ss -ti."
            )
        self._check_moving()
        return lambda: kind(self._world, self._topology, host, given)

    def _check_moving(self) -> None:
        if self._speed == 0:
            raise OptionError("time stands still: say speed 1 first.")

    @contextlib.contextmanager
    def _standing(self) -> Iterator[None]:
        """Time stands for the length of the block, so that nothing happens unseen."""
        self._world.pause()
        try:
            yield
        finally:
            self._move()

    def _move(self) -> None:
        if self._speed != 0:
            self._world.run(self._speed)

    def _follow(self, start: Callable[[], Tool]) -> None:
        """Prints its events until it has ended; Ctrl-C ends it."""
        with contextlib.ExitStack() as stack:
            with self._standing():
                tool = start()
                told = stack.enter_context(
                    self._world.watch_hosts(
                        interval_ns=tool.sample_ns, hosts=[tool.host], events=True
                    )
                )
            try:
                for message in told:
                    _print(tool.lines(message))
                    ended = [event.ended for event in message.events if event.HasField("ended")]
                    report = next((each for each in ended if each.app == tool.app), None)
                    if report is not None:
                        break
                else:
                    return
            except KeyboardInterrupt:
                print()
                report = self._world.stop(tool.app)
        _print(tool.summary(report))
        tool.close(self._world)

    def _ss(self, host: str) -> None:
        (state,) = self._world.look([host], connections=True).hosts
        _print(tools.ss(state))

    def do_jobs(self, line: str) -> None:
        """The programs still running; those that have ended print their result, once."""
        for command, tool in list(self._running.items()):
            report = self._world.report(tool.app)
            if not report.ended:
                print(f"{command}: runs")
                continue
            print(f"{command}: has ended")
            _print(tool.summary(report))
            tool.close(self._world)
            del self._running[command]

    def do_pingall(self, line: str) -> None:
        """Every host pings every other one, once."""
        self._check_moving()
        hosts = [host.name for host in self._topology.hosts]
        with contextlib.ExitStack() as stack:
            with self._standing():
                told = stack.enter_context(self._world.watch_hosts(events=True))
                asked = {
                    (source, target): self._ping(source, target)
                    for source in hosts
                    for target in hosts
                    if source != target
                }
            waiting = set(asked.values())
            while waiting:
                message = next(told)
                waiting -= {event.app for event in message.events if event.HasField("ended")}
        reports = {each.app: each for each in self._world.look(apps=True).apps}
        answered = {pair for pair, app in asked.items() if reports[app].ping.echoes}
        for source in hosts:
            words = (
                target if (source, target) in answered else "X"
                for target in hosts
                if target != source
            )
            print(f"{source} -> {' '.join(words)}")
        print(f"{len(answered)} of {len(asked)} were answered")

    def _ping(self, source: str, target: str) -> int:
        ping = world_pb2.Ping(to=target, count=1, interval_ns=ANSWER_NS)
        return self._world.start(source, world_pb2.App(ping=ping))

    # ---- the network -----------------------------------------------------------------------------

    def do_nodes(self, line: str) -> None:
        """Hosts with their addresses, and routers."""
        for host in self._topology.hosts:
            print(f"{host.name}  {', '.join(map(str, host.addresses))}")
        for switch in self._topology.switches:
            print(f"{switch.name}  router, {len(switch.ports)} ports")

    def do_links(self, line: str) -> None:
        """The cables, and what is wrong with them."""
        cables = self._world.look(topology=True).cables
        for link, cable in zip(self._topology.links, cables, strict=True):
            rates = [self._rate(end) for end in (link.a, link.b) if end.port is not None]
            state = "cut" if cable.cut else ", ".join(dict.fromkeys(rates))
            print(f"{link.a} <-> {link.b}  {state}")

    def _rate(self, end: End) -> str:
        rate_bps = self._topology.switch(end.node).port(end.port or 0).rate_bps
        return units.format_rate(rate_bps) if rate_bps else "takes no time"

    def do_link(self, line: str) -> None:
        """`link A B down` cuts the cable between two nodes, `link A B up` restores it."""
        words = _words(line)
        if len(words) != 3 or words[2] not in ("down", "up"):
            raise OptionError("say link A B down, or link A B up.")
        wanted = {words[0], words[1]}
        for link in self._topology.links:
            if {link.a.node, link.b.node} == wanted:
                end = messages.end(link.a)
                self._world.fault(
                    world_pb2.FaultRequest(cut=end)
                    if words[2] == "down"
                    else world_pb2.FaultRequest(mend=end)
                )
                return
        raise OptionError(f"no cable joins {words[0]} and {words[1]}: `links` lists them.")

    def do_reports(self, line: str) -> None:
        """The reports that reached the collector of the telemetry domain."""
        if self._reports is None:
            raise OptionError("no router reports anything: start it with vitrine up --domain FILE.")
        with self._standing():
            self._reports.wait_for(self._world.look().time_ps)
            _print(self._reports.lines())

    # ---- time ------------------------------------------------------------------------------------

    def do_speed(self, line: str) -> None:
        """`speed 10`: ten seconds of the network in one of ours; 0 stops time, max is no limit."""
        text = line.strip()
        try:
            speed = None if text == FASTEST else Fraction(text).limit_denominator(1000)
        except (ValueError, ZeroDivisionError):
            speed = Fraction(-1)
        if speed is not None and speed < 0:
            raise OptionError("say speed 1, speed 10, speed 0.1, speed max, or speed 0.")
        self._speed = speed
        self._world.pause()
        self._move()

    def do_advance(self, line: str) -> None:
        """`advance 5`: while time stands still, 5 seconds pass."""
        if self._speed != 0:
            raise OptionError("time passes by itself: say speed 0 first.")
        try:
            seconds = float(line)
        except ValueError:
            raise OptionError("how many seconds? Say advance 5.") from None
        self._world.advance(round(seconds * PS_PER_S))

    def do_time(self, line: str) -> None:
        """The network's time."""
        print(f"{self._world.look().time_ps / PS_PER_S:.6f} s")

    def do_help(self, arg: str) -> None:
        """All commands."""
        print(HELP)

    def do_exit(self, line: str) -> bool:
        """Takes the network down."""
        return True

    do_quit = do_exit

    def do_EOF(self, line: str) -> bool:  # noqa: N802 (cmd's name)
        """Ctrl-D takes the network down."""
        print()
        return True


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise OptionError(f"that cannot be read: {error}.") from None


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        print(line)
    sys.stdout.flush()
