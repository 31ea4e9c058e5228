"""A student's line: its speed, what is sent over it, and the router that the file is given to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from vitrine.v1 import world_pb2

from apps import qos, qos_file
from controller.errors import ControllerError
from controller.queueing import PortSettings
from controller.session import Session
from controller.world import PS_PER_S
from course.exercise import Work
from course.story import Refused, Story
from course.tools.documents import yaml_content
from course.tools.net import Network
from course.tools.network import kits_router, network, topology
from topo.errors import TopologyError

FILE = "qos.yaml"
# The slow line's port.
LINE = 4
SECONDS = 8.0
STEP_S = 0.1
# A call: 200 bytes every 20 ms. Calls begin half a second before anything else does.
CALLS, CALL_BPS, CALL_BYTES = 4, 80_000, 200
QUIET_S = 0.5


@dataclass(frozen=True)
class Line:
    """This student's own parameters."""

    rate_bps: int
    voice_port: int
    bulk_port: int

    @classmethod
    def of(cls, work: Work) -> Line:
        """The same whenever this student asks."""
        dice = work.own("line")
        return cls(
            rate_bps=dice.choice((3, 4, 5, 6)) * 1_000_000,
            voice_port=dice.randrange(16384, 32768, 2),
            bulk_port=dice.randrange(8000, 9000),
        )

    def __str__(self) -> str:
        return (
            f"Your line, port {LINE}, has {self.rate_bps / 1e6:.0f} Mb/s. Calls go to UDP port "
            f"{self.voice_port}, downloads to TCP port {self.bulk_port}."
        )


@dataclass(frozen=True)
class Bench:
    """A file that can be put into force, and the line it is for."""

    work: Work
    line: Line
    qos: qos_file.Qos

    @contextmanager
    def router(self, film: str) -> Iterator[Net]:
        """The router with the file in force, between the hosts of the handout."""
        of = topology(f"""
hosts:
  h1: {{address: 10.0.1.1/24}}
  h2: {{address: 10.0.2.1/24}}
  h3: {{address: 10.0.3.1/24}}
  h4: {{address: 10.0.4.1/24}}
switches:
  s1:
    ports:
      1: {{address: 10.0.1.254/24, rate: 100 Mb/s}}
      2: {{address: 10.0.2.254/24, rate: 100 Mb/s}}
      3: {{address: 10.0.3.254/24, rate: 100 Mb/s}}
      4: {{address: 10.0.4.254/24, rate: {self.line.rate_bps} b/s, queue: 1000 packets}}
links:
  - [h1, s1:1]
  - [h2, s1:2]
  - [h3, s1:3]
  - {{ends: [s1:4, h4], delay: 10 ms}}
""")
        with network(self.work, of, kits_router(of), film=film) as net:
            self._into_force(net.sessions["s1"])
            yield Net(net, self.line)

    def _into_force(self, session: Session) -> None:
        try:
            qos.apply(session, self.qos)
        except ControllerError as error:
            raise _refused(str(error)) from error


class Net:
    """The network, in the words of the exercise."""

    def __init__(self, net: Network, line: Line) -> None:
        self._net, self._line = net, line
        self._sink = net.sink("h4", line.voice_port)
        self._calls = [
            net.datagrams(
                "h1",
                "h4",
                line.voice_port,
                rate_bps=CALL_BPS,
                span_s=SECONDS,
                payload_bytes=CALL_BYTES,
                # Calls do not begin together.
                after_s=0.005 * number,
            )
            for number in range(CALLS)
        ]
        self._transfers: list[int] = []
        # The calls' counts at an instant.
        self._seen: list[tuple[float, Sequence[world_pb2.DatagramFlow]]] = []

    def downloads(self, host: str, connections: int, congestion: str = "cubic") -> None:
        """TCP from a host, from when the calls have begun until the end."""
        self._transfers.append(
            self._net.transfer(
                host,
                "h4",
                self._line.bulk_port + len(self._transfers),
                span_s=SECONDS - QUIET_S,
                congestion=congestion,
                connections=connections,
                after_s=QUIET_S,
            )
        )

    def flood(self, port: int, load: float, burst: int = 1) -> None:
        """UDP from h3 to a port of h4, as a multiple of the line."""
        self._net.datagrams(
            "h3",
            "h4",
            port,
            rate_bps=load * self._line.rate_bps,
            span_s=SECONDS - QUIET_S,
            after_s=QUIET_S,
            burst=burst,
        )

    def to_the_end(self) -> None:
        """Lets all of it happen, and looks at the calls every now and then."""
        for step in range(1, round(SECONDS / STEP_S) + 1):
            self._net.let_pass(STEP_S)
            self._seen.append((step * STEP_S, self.calls()))

    # ---- what came of it -------------------------------------------------------------------------

    def first_s(self, is_bad: Callable[[world_pb2.DatagramFlow], bool]) -> float:
        """When this was first true of a call: some time in the step before; if never, the end."""
        times = (at_s - STEP_S for at_s, calls in self._seen if any(map(is_bad, calls)))
        return next(times, SECONDS)

    def calls(self) -> Sequence[world_pb2.DatagramFlow]:
        """The packets of h1's calls that arrived."""
        flows = self._net.report(self._sink).datagram_sink.flows
        return [flow for flow in flows if getattr(flow, "from").startswith("10.0.1.1:")]

    def sent(self) -> int:
        """Packets of calls that left h1."""
        return sum(self._net.report(app).datagram_source.sent for app in self._calls)

    def bulk_share(self) -> float:
        """The part of the line that carried data of downloads, while there were any."""
        acked = sum(self._net.report(app).bulk.acked_bytes for app in self._transfers)
        return acked * 8 / (SECONDS - QUIET_S) / self._line.rate_bps

    def bulk_wait_s(self) -> float:
        """The mean wait in the class that carried the most."""
        queues = self._net.port("s1", LINE).counters.queues
        most = max(queues, key=lambda queue: queue.counters.departed.bytes)
        return most.residence.mean_ps / PS_PER_S


def read(work: Work) -> Bench:
    """The file, once it is one that may be put into force."""
    yaml_content(work, FILE)
    try:
        read = qos_file.load(work.folder / FILE)
    except (TopologyError, ControllerError, RecursionError, ValueError, ArithmeticError) as error:
        raise _refused(str(error)) from error
    for port, settings in read.router.ports.items():
        _leaves_the_line_alone(port, settings)
    return Bench(work, Line.of(work), read)


def _leaves_the_line_alone(port: int, settings: PortSettings) -> None:
    if settings.rate_bps is not None or settings.overhead_bytes is not None:
        raise _refused(f"It gives port {port} a `rate` or an `overhead`: the line is what it is.")


def _refused(came: str) -> Refused:
    return Refused(
        Story(
            done=f"The check put {FILE} into force, as `python -m apps.qos` does.",
            expected="A file that the router takes whole.",
            because="apps/qos.py and docs/topologies.md have the words; a router takes all of a "
            "change or nothing.",
            came=came,
        )
    )
