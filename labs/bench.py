"""A lab's workbench: networks that are up, and the instruments on them, whatever world they are in.

    with worlds.bench(...) as bench:
        bench.bring_up(topology)
        with bench.recording([("s1", 2)], senders=["h1"]) as instruments:
            instruments.flow("download", "h1", "h2", seconds=20, congestion="reno")
            instruments.hold(5)
            instruments.fetch("h2", server)
            instruments.finish()
        recording = instruments.recording

This is all that labs know of their world; `labs.worlds` has the benches. A network stays up until
another one is asked for. `finish` waits until everything that was started has ended by itself;
leaving the block without it drops what is unfinished unread. All times are seconds since the start
of the recording.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import TypeVar

from apps.domain import Domain
from controller.queueing import Limit
from controller.session import Session
from labs.errors import MeasurementError
from labs.frames import FRAME_BYTES
from labs.glass.tape import Tape
from labs.measure.iperf import Result
from labs.measure.page import Fetch
from labs.measure.ping import Pings
from labs.measure.router import PortSeries
from labs.measure.sockets import SocketSample
from labs.narration import Narrator
from labs.recording import Flow, Recording
from labs.view import LiveView, Subject
from topo.model import End, Port, Topology
from topo.units import format_rate

SAMPLE_INTERVAL_MS = 1
SOCKET_INTERVAL_S = 0.05
PING_INTERVAL_S = 0.2
REDRAW_S = 0.1
FIRST_IPERF_PORT = 5201
PAGE_PORT = 80
FIRST_BURST_PORT = 7000
# Senders that are to begin together name an instant this far ahead: by then the slowest of their
# programs has started, on a busy machine, too.
LEAD_S = 10.0

_Self = TypeVar("_Self", bound="Bench")


@dataclass(frozen=True)
class FlowPlan:
    """A TCP flow that is to be."""

    name: str
    source: str
    target: str
    congestion: str
    # The rate to which TCP spaces its packets; None: as fast as its window lets it.
    pacing_bps: int | None = None
    # The receiver stops reading this many seconds after the start, for this many; None: it never
    # stops.
    pause_s: tuple[float, float] | None = None


class Bench(ABC):
    """The network of the moment, with its routers programmed."""

    def __init__(self, narrator: Narrator) -> None:
        self.narrator = narrator
        # The run of the moment and its records until now, until it is finished.
        self._run = ""
        self._recording: Recording | None = None
        # That of everything random; chance in the live world has none, and computes with the first.
        self.seed = 1

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # ---- for labs --------------------------------------------------------------------------------

    @abstractmethod
    def bring_up(self, topology: Topology, domain: Domain | None = None) -> None:
        """Makes this the network; the one that was up before is taken down first.

        With a telemetry domain its routers are nodes of it, and what they report is recorded.
        """

    @property
    @abstractmethod
    def topology(self) -> Topology:
        """The network as data."""

    @abstractmethod
    def session(self, switch: str) -> Session:
        """The P4Runtime session with a router of the network."""

    @abstractmethod
    def recording(
        self,
        ports: Sequence[tuple[str, int]],
        *,
        senders: Sequence[str],
        interval_ms: int = SAMPLE_INTERVAL_MS,
    ) -> AbstractContextManager[Instruments]:
        """Records these ports of routers, and the TCP connections of these hosts.

        The first port is the one that the live view shows.
        """

    # ---- for their frame -------------------------------------------------------------------------

    @abstractmethod
    def close(self) -> None:
        """Takes down what is up."""

    def begin(self, run: str) -> None:
        """Records from now on belong to this run."""
        self._run = run

    def has_finished(self) -> None:
        """The run's recording is in other hands."""
        self._recording = None

    def taped(self, title: str) -> AbstractContextManager[Tape | None]:
        """The routers' events in a `with` block, for the page; None: nothing is taped."""
        return nullcontext()

    @property
    def unfinished(self) -> tuple[str, Recording] | None:
        """The run that something has ended, and what it had recorded until then."""
        return (self._run, self._recording) if self._recording is not None else None

    @abstractmethod
    def best_rate(self, choices_bps: Sequence[int]) -> tuple[int, str]:
        """Of the rates that a lab may choose, its own first, the one for this world; and why.

        The reason is a sentence, or empty where there is nothing to say.
        """

    @abstractmethod
    def becomes_calm(self, deadline_s: float) -> bool:
        """Waits until nothing disturbs measurements; False if that does not come in time."""


class Instruments(ABC):
    """The instruments of a run that is recorded."""

    def __init__(self, narrator: Narrator, view: LiveView, shown: PortSeries) -> None:
        self._narrator = narrator
        self._view = view
        self._shown = shown
        self.recording = Recording()

    # ---- doing things ----------------------------------------------------------------------------

    def flow(self, name: str, source: str, target: str, *, seconds: int, congestion: str) -> None:
        """Starts a TCP flow."""
        self.flows([FlowPlan(name, source, target, congestion)], seconds=seconds)

    @abstractmethod
    def flows(self, plans: Sequence[FlowPlan], *, seconds: int) -> None:
        """Starts TCP flows at one instant: who comes late to a full queue stays behind for long."""

    @abstractmethod
    def ping(
        self,
        name: str,
        source: str,
        target: str,
        *,
        seconds: float,
        interval_s: float = PING_INTERVAL_S,
    ) -> None:
        """Starts a ping; what several of one name see is one list."""

    @abstractmethod
    def serve_page(self, host: str, length_bytes: int) -> None:
        """Lets a host serve a web page of this length."""

    @abstractmethod
    def fetch(self, reader: str, server: str) -> Fetch:
        """Fetches the page of a server and returns once it is there."""

    @abstractmethod
    def send_bursts(
        self,
        name: str,
        source: str,
        target: str,
        *,
        size_bytes: int,
        burst: int,
        offsets_s: Sequence[float],
        start_s: float | None = None,
    ) -> None:
        """Sends `burst` datagrams at once, at each of these offsets from now.

        Senders that are to begin together name an instant of the recording's clock, far enough
        ahead for their programs to start.
        """

    @abstractmethod
    def hold(self, seconds: float) -> None:
        """Lets time pass, and shows what happens meanwhile."""

    def hold_until_queued(self, packets: int, deadline_s: float) -> None:
        """Lets time pass until the shown port holds this many packets, at most until an instant."""
        while self.now_s() < deadline_s:
            if self._shown.packets[-1:] >= [packets]:
                return
            self.hold(REDRAW_S)

    @abstractmethod
    def finish(self) -> None:
        """Waits for all that was started to end by itself, and reads what it found."""

    # ---- telling ---------------------------------------------------------------------------------

    @abstractmethod
    def now_s(self) -> float:
        """This instant on the recording's clock."""

    def moment(self, text: str) -> None:
        """Marks this instant in the figures."""
        self.recording.moments.append((self.now_s(), text))

    def note(self, text: str) -> None:
        """Says something about the run."""
        self._view.erase()
        self._narrator.note(text)

    def _look(self) -> None:
        """Shows what has come since the last look."""
        self._view.show(self._shown)

    def _keep_ping(self, name: str, found: Pings) -> None:
        """The results of several pings of one name are one list."""
        earlier = self.recording.pings.get(name)
        self.recording.pings[name] = earlier.followed_by(found) if earlier else found

    def _keep_flow(self, plan: FlowPlan, result: Result, peer: str) -> None:
        """A flow that has ended, with the samples of its connection to `peer`."""
        seen = self.recording.sockets.get(plan.source, [])
        self.recording.flows[plan.name] = Flow(
            name=plan.name,
            source=plan.source,
            target=plan.target,
            congestion=plan.congestion,
            result=result,
            samples=data_connection([sample for sample in seen if sample.peer == peer]),
        )

    def _check_series(self) -> None:
        for name, series in self.recording.ports.items():
            if not series.time_s:
                raise MeasurementError(
                    f"the router sent no sample of {name} while the flows ran: see its log."
                )


def data_connection(samples: Sequence[SocketSample]) -> list[SocketSample]:
    """Of iperf3's two connections the one that carried the data: it has acknowledged the most."""
    acked: dict[tuple[str, str], int] = {}
    for sample in samples:
        acked[sample.connection] = max(acked.get(sample.connection, 0), sample.bytes_acked)
    if not acked:
        return []
    data = max(acked, key=lambda connection: acked[connection])
    return [sample for sample in samples if sample.connection == data]


def ports_by_switch(ports: Sequence[tuple[str, int]]) -> dict[str, list[int]]:
    """The numbers of these ports, switch by switch."""
    by_switch: dict[str, list[int]] = {}
    for switch, number in ports:
        by_switch.setdefault(switch, []).append(number)
    return by_switch


def port_name(switch: str, number: int) -> str:
    """A port by the name of its interface, as recordings have it: `s1-eth2`."""
    return f"{switch}-eth{number}"


def subject(topology: Topology, switch: str, number: int) -> Subject:
    """The live view's port."""
    port = topology.switch(switch).port(number)
    rate_bps, each = port.rate_bps or 0, _limit_packets(port)
    toward = topology.neighbour(End(switch, number)).node
    queues = port.settings.queue_count or 1
    limit = f"queue limit {each}" if queues == 1 else f"{queues} queues of {each}"
    return Subject(
        f"{switch} port {number} toward {toward}: line {format_rate(rate_bps)}, {limit} packets",
        rate_bps,
        queues * each,
    )


def _limit_packets(port: Port) -> int:
    """A queue's limit; one in bytes as the same number of full frames."""
    every = port.settings.every_queue
    limit = every.limit if every and every.limit else Limit()
    return limit.packets or (limit.bytes or 0) // FRAME_BYTES
