"""TCP flows over one line in virtual time, with the congestion control of a submission."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vitrine.v1 import world_pb2

from controller.errors import ControllerError
from controller.world import PS_PER_S
from course.exercise import Work
from course.story import Moment, Refused, Story
from course.tools.insides import environment
from course.tools.virtual import last_told_s
from labs.glass.tape import Tape
from labs.narration import Narrator
from labs.worlds.virtual.bench import VirtualBench
from topo import load
from topo.document import Place
from topo.model import Topology

MSS_BYTES = 1448
_LISTENER_PORT = 5001
STEP_S = 0.1

_NETWORK = """
hosts:
{hosts}
  sink: {{address: 10.0.99.1/24}}
switches:
  s1:
    ports:
{ports}
      99: {{address: 10.0.99.254/24, rate: {rate}, queue: {queue} packets}}
links:
{links}
  - {{ends: [s1:99, sink], delay: {delay_ms} ms, loss: {loss}}}
"""


@dataclass(frozen=True)
class Sender:
    """A host that sends as much as it may from an instant on."""

    # A built-in congestion control by its name, or FILE.py:CLASS of the submission.
    congestion: str
    begins_s: float = 0.0
    # The application hands over no more than this; 0: without end.
    pacing_bps: int = 0


@dataclass(frozen=True)
class Line:
    """The line that all flows share."""

    rate_bps: int
    # Half of it each way.
    round_trip_ms: int
    queue_packets: int
    loss: str = "0 %"

    @property
    def words(self) -> str:
        """For a story."""
        lossy = "" if self.loss == "0 %" else f", {self.loss} of all packets lost"
        return (
            f"a line of {self.rate_bps / 1e6:g} Mb/s with a round trip of {self.round_trip_ms} ms "
            f"and room for {self.queue_packets} packets{lossy}"
        )

    @property
    def window_packets(self) -> float:
        """The bandwidth-delay product in full packets."""
        return self.rate_bps * self.round_trip_ms / 1000 / 8 / (MSS_BYTES + 66)


@dataclass(frozen=True)
class Flow:
    """The results of one sender."""

    # Payload acknowledged per second in the measured interval.
    goodput_bps: float
    sent_again: int
    packets: int
    # Its window every tenth of a second, from the beginning of the run.
    windows: tuple[int, ...]

    @property
    def loss(self) -> float:
        """The share of its packets that were retransmissions."""
        return self.sent_again / max(1, self.packets)


def send(
    work: Work,
    line: Line,
    senders: Sequence[Sender],
    *,
    seconds: float,
    since_s: float = 0.0,
    seed: int,
    because: str,
    film: str,
) -> list[Flow]:
    """Lets the senders send; goodput is that from `since_s` on. A fault of a class is refused.

    The network is called `film` where stories point at it.
    """
    of = _topology(work, line, senders)
    done = f"{_who(senders)} sent for {seconds:g} s through {line.words}."
    quiet = Narrator((), io.StringIO())
    tape = Tape()
    try:
        with (
            VirtualBench(work.scratch, quiet, seed=seed, environment=environment(work)) as bench,
            _filmed(work, bench, film) as tape,
        ):
            bench.bring_up(of)
            return _run(bench, senders, seconds, since_s)
    except ControllerError as error:
        raise Refused(
            Story(
                done=done,
                expected="A class that can be made, and decisions that are allowed.",
                because="insides/contract.py says what a class must have and may decide. "
                + because,
                came=str(error).replace(f"{work.folder}/", ""),
                moment=Moment(last_told_s(tape), film),
            )
        ) from error


@contextlib.contextmanager
def _filmed(work: Work, bench: VirtualBench, film: str) -> Iterator[Tape]:
    """Keeps what happens in a bench's network, if anybody wants to see it."""
    if work.filming is None:
        yield Tape(film)
        return
    with bench.taped(film) as tape:
        try:
            yield tape
        finally:
            work.filming.add(film, tape)


def _who(senders: Sequence[Sender]) -> str:
    names = [each.congestion.rpartition(":")[2] for each in senders]
    return " and ".join(names)


def _topology(work: Work, line: Line, senders: Sequence[Sender]) -> Topology:
    numbers = range(1, len(senders) + 1)
    hosts = [
        f"  h{number}: {{address: 10.0.{number}.1/24, tcp: {{congestion: {each.congestion!r}}}}}"
        for number, each in zip(numbers, senders, strict=True)
    ]
    text = _NETWORK.format(
        hosts="\n".join(hosts),
        ports="\n".join(
            f"      {number}: {{address: 10.0.{number}.254/24, rate: 1 Gb/s}}" for number in numbers
        ),
        links="\n".join(f"  - [h{number}, s1:{number}]" for number in numbers),
        rate=f"{line.rate_bps} b/s",
        queue=line.queue_packets,
        delay_ms=line.round_trip_ms / 2,
        loss=line.loss,
    )
    return load.read(Place.of_text(text, work.folder / "the network of a check"))


def _run(
    bench: VirtualBench, senders: Sequence[Sender], seconds: float, since_s: float
) -> list[Flow]:
    world = bench.world
    listener = world_pb2.Listener(port=_LISTENER_PORT)
    world.start("sink", world_pb2.App(listener=listener))
    apps = []
    for number, each in enumerate(senders, 1):
        bulk = world_pb2.Bulk(
            to=world_pb2.Peer(host="sink", port=_LISTENER_PORT),
            after_ns=round(each.begins_s * 1e9),
            pacing_rate_bps=each.pacing_bps,
        )
        apps.append(world.start(f"h{number}", world_pb2.App(bulk=bulk)))
    names = [f"h{number}" for number in range(1, len(senders) + 1)]
    windows: list[list[int]] = [[] for _ in senders]
    before = [0] * len(senders)
    steps = round(seconds / STEP_S)
    for step in range(steps):
        if step == round(since_s / STEP_S):
            before = [world.report(app).bulk.acked_bytes for app in apps]
        world.advance(round(STEP_S * PS_PER_S))
        for state, seen in zip(world.look(names, connections=True).hosts, windows, strict=True):
            seen.append(state.connections[0].cwnd if state.connections else 0)
    flows = []
    for app, first, seen in zip(apps, before, windows, strict=True):
        told = world.report(app).bulk
        goodput_bps = (told.acked_bytes - first) * 8 / (seconds - since_s)
        packets = told.acked_bytes // MSS_BYTES + told.retransmits
        flows.append(Flow(goodput_bps, int(told.retransmits), int(packets), tuple(seen)))
    return flows
