"""The queues of a check's routers, as a small picture for a student's page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil

from vitrine.v1 import router_pb2

from controller.world import PS_PER_S
from labs import palette
from labs.glass import tape
from labs.glass.tape import Tape

# Of a page's column.
WIDTH, HEIGHT = 760, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 26, 34
_COLOURS = palette.FLOWS[:3]
# From the name of a line to the next one's.
_NAMES_APART = (WIDTH - _LEFT - _RIGHT) // len(_COLOURS)
_DROP, _MOMENT, _INK = palette.RED, "#b3261e", "#444444"
# Thinner lines than these cannot be distinguished.
_DROPS_MAX = 400


@dataclass
class _Port:
    """A port's depth over time, and its drops."""

    points: list[tuple[float, int]] = field(default_factory=list)
    drops_s: list[float] = field(default_factory=list)

    @property
    def most(self) -> int:
        """The greatest number of packets."""
        return max((packets for _, packets in self.points), default=0)


def svg(told: Tape, at_s: float) -> str:
    """The ports with the longest queues, their drops, and the moment; empty if nothing waited."""
    ports = _ports(told)
    shown = sorted(ports.items(), key=lambda each: -each[1].most)[: len(_COLOURS)]
    shown = [(name, port) for name, port in shown if port.most]
    if not shown:
        return ""
    end_s = max(at_s, *(time_s for _, port in shown for time_s, _ in port.points))
    most = shown[0][1].most
    step = _step(most)
    top = step * ceil(most / step)

    def x(time_s: float) -> str:
        return f"{_LEFT + (WIDTH - _LEFT - _RIGHT) * time_s / end_s:.1f}"

    def y(packets: float) -> str:
        return f"{HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * packets / top:.1f}"

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" xmlns="http://www.w3.org/2000/svg" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{_INK}">',
        f"<title>{escape(_words(shown, at_s))}</title>",
    ]
    for packets in range(0, top + 1, step):
        parts.append(
            f'<path d="M{_LEFT} {y(packets)}H{WIDTH - _RIGHT}" stroke="#dddddd"/>'
            f'<text x="{_LEFT - 6}" y="{y(packets)}" dy="4" text-anchor="end">{packets}</text>'
        )
    for part in range(5):
        time_s = end_s * part / 4
        parts.append(
            f'<text x="{x(time_s)}" y="{HEIGHT - _BOTTOM + 16}" text-anchor="middle">'
            f"{time_s:.3g}</text>"
        )
    parts.append(f'<text x="{WIDTH - _RIGHT}" y="{HEIGHT - 4}" text-anchor="end">seconds</text>')
    for index, (name, port) in enumerate(shown):
        line = " ".join(f"{x(time_s)},{y(packets)}" for time_s, packets in port.points)
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{_COLOURS[index]}" '
            'stroke-width="1.5"/>'
            f'<text x="{_LEFT + _NAMES_APART * index}" y="14" fill="{_COLOURS[index]}">'
            f"{escape(name)}: packets that wait</text>"
        )
        for drop_s in port.drops_s[:: ceil(len(port.drops_s) / _DROPS_MAX) or 1]:
            parts.append(f'<path d="M{x(drop_s)} {y(0)}v6" stroke="{_DROP}"/>')
    parts.append(
        f'<path d="M{x(at_s)} {_TOP}V{HEIGHT - _BOTTOM}" stroke="{_MOMENT}" '
        'stroke-dasharray="4 3"/>'
    )
    return "".join([*parts, "</svg>"])


def _ports(told: Tape) -> dict[str, _Port]:
    """The routers' reports, by port: `s1 port 2`."""
    names = list(told.up.routers)
    found: dict[str, _Port] = {}
    for entry in told.entries:
        if entry.kind != tape.SAMPLES:
            continue
        message = router_pb2.WatchResponse.FromString(entry.message)
        for each in message.sample.ports:
            port = found.setdefault(f"{names[entry.router]} port {each.port}", _Port())
            at_s = message.sample.time_ps / PS_PER_S
            port.points.append((at_s, each.counters.held.packets))
        for event in message.events:
            if event.HasField("drop"):
                where = f"{names[entry.router]} port {event.drop.queue.port}"
                found.setdefault(where, _Port()).drops_s.append(event.time_ps / PS_PER_S)
    return found


def _step(most: int) -> int:
    """How far apart levels are: 1, 2 or 5 times a power of ten, some four of them."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if step * factor * 4 >= most:
                return step * factor
        step *= 10


def _words(shown: Sequence[tuple[str, _Port]], at_s: float) -> str:
    """The same for those who cannot see it."""
    ports = "; ".join(
        f"{name}: up to {port.most} packets wait, {len(port.drops_s)} drops" for name, port in shown
    )
    return f"{ports}. The moment of the story is at {at_s:.3f} s."
