"""The steps of a run: pings, flows, waits and datagrams.

A step is a mapping whose first key says what it is: `{flow: download, from: h1, to: h2}`. Steps
begin one after the other without a pause; only `wait` lets time pass. Flows that follow each other
and last equally long begin at the same instant.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from labs.bench import PING_INTERVAL_S, FlowPlan, Instruments
from labs.declared.names import Names
from labs.frames import MTU_BYTES
from labs.settings import VIRTUAL_ALGORITHMS
from labs.worlds.live.datagrams import BURST_BYTES_MAX, BURST_DATAGRAMS_MAX
from topo import units
from topo.document import Place
from topo.errors import TopologyError
from topo.model import Topology

# IP and UDP.
HEADERS_BYTES = 28
_DATAGRAMS_MAX = 10_000_000


@dataclass(frozen=True)
class Step(ABC):
    """A step as the file has it."""

    KEYS: ClassVar[frozenset[str]]
    REQUIRED: ClassVar[frozenset[str]] = frozenset({"from", "to"})

    place: Place
    # Its name in the file.
    name: str
    fields: Mapping[str, Place]

    @abstractmethod
    def seconds(self, names: Names) -> float:
        """How long it lasts."""

    def check(self, names: Names, topology: Topology) -> None:
        """Refuses hosts that are not in the network, and texts that cannot be computed."""
        for end in ("from", "to"):
            if end in self.fields:
                self._host(end, topology)
        self.seconds(names)

    @property
    def ends(self) -> tuple[str, str]:
        """Sender and receiver."""
        return self.fields["from"].text(), self.fields["to"].text()

    def _host(self, end: str, topology: Topology) -> None:
        place = self.fields[end]
        try:
            topology.host(place.text())
        except TopologyError as error:
            raise place.error(f"{place.name}: {error}") from error

    def _span(self, key: str, names: Names, otherwise: float | None = None) -> float:
        if key in self.fields:
            span_s = names.seconds(self.fields[key])
            if span_s <= 0 and key != "after":
                self.fields[key].refuse("must be longer than nothing.")
            return span_s
        duration = names.values.get("duration") if otherwise is None else otherwise
        if not isinstance(duration, int | float):
            self.place.refuse(f"lacks {key!r}, such as 5 s: this lab has no setting duration.")
        return float(duration)


class Ping(Step):
    """A ping of one host by another."""

    KEYS = frozenset({"from", "to", "for", "every"})

    def seconds(self, names: Names) -> float:
        """As long as the setting `duration` if it does not say."""
        return self._span("for", names)

    def interval_s(self, names: Names) -> float:
        """From a request to the next one."""
        return self._span("every", names, PING_INTERVAL_S)

    def check(self, names: Names, topology: Topology) -> None:
        """Refuses an interval that is none, too."""
        super().check(names, topology)
        self.interval_s(names)

    def begin(self, instruments: Instruments, names: Names) -> None:
        """Starts it."""
        source, target = self.ends
        seconds, interval_s = self.seconds(names), self.interval_s(names)
        instruments.ping(self.name, source, target, seconds=seconds, interval_s=interval_s)


class Flow(Step):
    """One TCP flow, or several of the same kind."""

    KEYS = frozenset({"from", "to", "for", "congestion", "times", "pacing"})

    def seconds(self, names: Names) -> float:
        """As long as the setting `duration` if it does not say."""
        return self._span("for", names)

    def congestion(self, names: Names) -> str:
        """Its TCP: the setting's if it does not say, and else Reno."""
        if "congestion" in self.fields:
            return names.text(self.fields["congestion"])
        return str(names.values.get("congestion", "reno"))

    def names(self, names: Names) -> list[str]:
        """One flow has the step's name, several are numbered from 1."""
        count = names.whole(self.fields["times"]) if "times" in self.fields else 1
        return [self.name] if count == 1 else [f"{self.name} {n}" for n in range(1, count + 1)]

    def plans(self, names: Names) -> list[FlowPlan]:
        """Its flows."""
        source, target = self.ends
        pacing = self.fields.get("pacing")
        pacing_bps = names.quantity(pacing, units.rate_bps) if pacing else None
        congestion = self.congestion(names)
        return [
            FlowPlan(name, source, target, congestion, pacing_bps) for name in self.names(names)
        ]

    def check(self, names: Names, topology: Topology) -> None:
        """Refuses a TCP that neither world has, too."""
        super().check(names, topology)
        if self.seconds(names) != int(self.seconds(names)):
            self.place.refuse("must last whole seconds.")
        self.plans(names)
        if "congestion" in self.fields:
            check_tcp(self.fields["congestion"], self.congestion(names))


class Wait(Step):
    """Time that passes before the next step."""

    KEYS = frozenset()
    REQUIRED = frozenset()

    def seconds(self, names: Names) -> float:
        """Until the next step."""
        return names.seconds(self.fields["wait"])


class Datagrams(Step):
    """Datagrams at regular instants: bursts, or a flood that does not listen."""

    KEYS = frozenset({"from", "to", "for", "size", "at_once", "every", "after"})
    REQUIRED = frozenset({"from", "to", "every"})

    def seconds(self, names: Names) -> float:
        """From the step's begin to the end of the sending."""
        return self._span("after", names, 0.0) + self._span("for", names)

    def check(self, names: Names, topology: Topology) -> None:
        """Refuses sizes that a packet cannot have, and bursts that a live host cannot send."""
        super().check(names, topology)
        size_bytes, burst = self._payload_bytes(names), self._burst(names)
        if not 1 <= burst <= BURST_DATAGRAMS_MAX or burst * size_bytes > BURST_BYTES_MAX:
            self.fields["at_once"].refuse(
                f"sends {burst} datagrams with {burst * size_bytes:,} bytes at once; a live host "
                f"sends from 1 to {BURST_DATAGRAMS_MAX}, of at most {BURST_BYTES_MAX:,} bytes."
            )
        self._offsets_s(names)

    def begin(self, instruments: Instruments, names: Names) -> None:
        """Starts it."""
        source, target = self.ends
        instruments.send_bursts(
            self.name,
            source,
            target,
            size_bytes=self._payload_bytes(names),
            burst=self._burst(names),
            offsets_s=self._offsets_s(names),
        )

    def _burst(self, names: Names) -> int:
        at_once = self.fields.get("at_once")
        return names.whole(at_once) if at_once else 1

    def _payload_bytes(self, names: Names) -> int:
        """Of an IP packet of the size that the file says."""
        size = self.fields.get("size")
        if size is None:
            return MTU_BYTES - HEADERS_BYTES
        found = names.quantity(size, units.size_bytes)
        if not HEADERS_BYTES <= found <= MTU_BYTES:
            size.refuse(f"must be from {HEADERS_BYTES} to {MTU_BYTES} bytes, and is {found}.")
        return found - HEADERS_BYTES

    def _offsets_s(self, names: Names) -> list[float]:
        every_s, after_s = self._span("every", names), self._span("after", names, 0.0)
        count = round(self._span("for", names) / every_s) if every_s > 0 else _DATAGRAMS_MAX + 1
        if not 1 <= count <= _DATAGRAMS_MAX:
            self.fields["every"].refuse(
                f"sends {count:,} times; it must be from 1 to {_DATAGRAMS_MAX:,}."
            )
        return [after_s + index * every_s for index in range(count)]


KINDS: Mapping[str, type[Step]] = {
    "ping": Ping,
    "flow": Flow,
    "wait": Wait,
    "datagrams": Datagrams,
}


def read(place: Place) -> tuple[Step, ...]:
    """The steps of a run."""
    steps = tuple(map(_step, place.items()))
    if not any(isinstance(step, Ping | Flow | Datagrams) for step in steps):
        place.refuse("sends nothing: add a step such as {flow: download, from: h1, to: h2}.")
    names: set[tuple[type[Step], str]] = set()
    for step in steps:
        if not isinstance(step, Wait) and (type(step), step.name) in names:
            step.place.refuse(f"has the name {step.name!r}, as a step before it has.")
        names.add((type(step), step.name))
    return steps


def _step(place: Place) -> Step:
    kinds = [key for key in place.entries() if key in KINDS]
    if len(kinds) != 1:
        place.refuse(f"must have one of the keys {', '.join(KINDS)}, which says what it does.")
    (kind,) = kinds
    step = KINDS[kind]
    fields = place.fields(required={kind, *step.REQUIRED}, optional=step.KEYS)
    return step(place, fields[kind].text(), fields)


def begin(steps: Sequence[Step], instruments: Instruments, names: Names) -> None:
    """Does a run's steps; nothing waits for their end."""
    for kind, group in _groups(steps, names):
        if kind is Flow:
            plans = [plan for step in group if isinstance(step, Flow) for plan in step.plans(names)]
            instruments.flows(plans, seconds=round(group[0].seconds(names)))
            continue
        for step in group:
            if isinstance(step, Wait):
                instruments.hold(step.seconds(names))
            elif isinstance(step, Ping | Datagrams):
                step.begin(instruments, names)


def _groups(steps: Sequence[Step], names: Names) -> Iterator[tuple[type[Step], list[Step]]]:
    """Steps that follow each other, are of one kind and last equally long."""
    for (kind, _), group in itertools.groupby(
        steps, key=lambda step: (type(step), step.seconds(names))
    ):
        yield kind, list(group)


def lasts_s(steps: Sequence[Step], names: Names) -> float:
    """From the first step's begin until everything has ended."""
    now_s = end_s = 0.0
    for step in steps:
        end_s = max(end_s, now_s + step.seconds(names))
        if isinstance(step, Wait):
            now_s += step.seconds(names)
    return end_s


def senders(steps: Sequence[Step]) -> list[str]:
    """The hosts whose TCP is looked at."""
    return list(dict.fromkeys(step.ends[0] for step in steps if isinstance(step, Flow)))


def check_tcp(place: Place, congestion: str) -> None:
    """Refuses a TCP that hosts of no world have."""
    if congestion not in VIRTUAL_ALGORITHMS and ":" not in congestion:
        place.refuse(f"must be one of {', '.join(VIRTUAL_ALGORITHMS)}, and is {congestion!r}.")
