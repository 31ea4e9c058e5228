"""A router as lines of text, for a terminal of any size from 60 columns and 16 lines on.

    s1 unix:/run/vitrine/s1.sock   8 ports   12.4 s   10/s
    port     line        out  use                      packets  dropped
     1   100 Mb/s  1.21 Mb/s  █▎                   1%        0        0
    >2   1.5 Mb/s  1.50 Mb/s  ████████████████████ 100%     93      166

Below the ports: the queues of the chosen port as bars against their limits, the history of the
chosen queue, and the input stage. `draw` is a pure function; styles are terminal sequences that
are left out where `plain` is asked for. What is too wide goes on in the next line, so that no
number is cut.
"""

from __future__ import annotations

import itertools
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from controller.queueing import Group, Groups, Hierarchy, InputQueueing, Limit, PortSettings
from labs.text import BLOCKS, bar, column_cells
from labs.top.monitor import Moment, PortNow, QueueNow
from topo.backend import CPU_PORT
from topo.units import format_rate

KEYS = "p pause   s sort   r router   ↑↓ port   ←→ queue   q quit"
_BOLD, _DIM, _RED, _YELLOW, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m", "\x1b[0m"
# No longer than can be compared at a glance.
_BAR_MAX = 40
# A queue is drawn in colour from here on.
_NEARLY_FULL = 0.9
# Drops that have less room than this behind a line stand below it.
_DROPS_ROOM = 12
# So many queues are shown whatever is in them.
_CLASSES_SHOWN = 4
# The bytes that wait between a port and its network device, by the names of NetdevCounters.
_HELD_OUTSIDE = {
    "waiting_bytes": "{:,} bytes for the switch to take",
    "unfinished": "{:,} super-packets half taken",
    "sending_bytes": "{:,} bytes for the device to send",
}

# The keys for sorting ports: the head of the column, and the value, the largest first.
SORTS: dict[str, Callable[[PortNow], float]] = {
    "port": lambda port: -port.number,
    "use": lambda port: port.utilisation,
    "packets": lambda port: port.packets,
    "dropped": lambda port: port.dropped_packets,
}


@dataclass(frozen=True)
class Choice:
    """The user's selection."""

    sort: str = "port"
    # Port number and class; None: the first one shown.
    port: int | None = None
    class_: int | None = None
    paused: bool = False


def pressed(choice: Choice, key: str, moment: Moment) -> Choice:
    """The choice after a key; keys without a meaning change nothing."""
    if key in ("p", " "):
        return replace(choice, paused=not choice.paused)
    if key == "s":
        names = list(SORTS)
        return replace(choice, sort=names[(names.index(choice.sort) + 1) % len(names)])
    if key in ("up", "k", "down", "j"):
        numbers = [port.number for port in ordered(moment, choice)]
        moved = _neighbour(numbers, chosen_port(moment, choice).number, key in ("down", "j"))
        return replace(choice, port=moved, class_=None)
    if key in ("left", "h", "right", "l"):
        port = chosen_port(moment, choice)
        classes = [queue.class_ for queue in by_class(port)]
        chosen = chosen_queue(port, choice)
        if chosen is not None:
            moved = _neighbour(classes, chosen.class_, key in ("right", "l"))
            return replace(choice, port=port.number, class_=moved)
    return choice


def _neighbour(values: Sequence[int], value: int, forward: bool) -> int:
    index = values.index(value) + (1 if forward else -1)
    return values[max(0, min(len(values) - 1, index))]


def ordered(moment: Moment, choice: Choice) -> list[PortNow]:
    """The ports in the order in which they are shown."""
    return sorted(moment.ports, key=SORTS[choice.sort], reverse=True)


def busiest(moment: Moment) -> int | None:
    """The port to look at first: where most packets wait, or else where most is sent."""
    if not moment.ports:
        return None
    return max(moment.ports, key=lambda port: (port.packets, port.utilisation)).number


def by_class(port: PortNow) -> list[QueueNow]:
    """The queues as they are shown: the highest class first, which strict priority serves first."""
    return sorted(port.queues, key=lambda queue: -queue.class_)


def chosen_port(moment: Moment, choice: Choice) -> PortNow:
    """The chosen port; where it is gone, the first one shown."""
    ports = ordered(moment, choice)
    return next((port for port in ports if port.number == choice.port), ports[0])


def chosen_queue(port: PortNow, choice: Choice) -> QueueNow | None:
    """The chosen queue; where none is, the fullest, or of empty ones the busiest."""
    queues = by_class(port)
    if not queues:
        return None
    chosen = next((queue for queue in queues if queue.class_ == choice.class_), None)
    return chosen or max(queues, key=lambda queue: (queue.packets, queue.rate_bps))


def draw(
    moment: Moment,
    choice: Choice,
    *,
    title: str,
    width: int,
    height: int,
    blocks: str = BLOCKS,
    styled: bool = True,
) -> list[str]:
    """The whole screen: at most `height` lines of at most `width` characters each."""
    style = _Style(styled)
    if not moment.ports:
        return [title[:width], "This router has no ports."]
    port = chosen_port(moment, choice)
    settings = moment.settings.ports.get(port.number, PortSettings())
    head = _title(moment, choice, title, width, style)
    inside = _input_stage(moment, width, style)
    queues = [
        *map(style.bold, _wrapped(_queues_title(port, settings), width, "  ")),
        *_cable_lines(port, width, style),
        *_outside_lines(port, width, style),
        *_queue_lines(port, choice, width, blocks, style),
    ]
    foot = [style.dim(KEYS[:width])]
    # Ports come first; what they leave is the history's, which can be of any height.
    room = height - len(head) - len(inside) - len(queues) - len(foot) - 3
    ports = _port_lines(moment, choice, width, blocks, style)
    if len(ports) > max(2, room):
        hidden = len(ports) - max(2, room) + 1
        ports = [*ports[:-hidden], style.dim(f"  and {hidden} more: s sorts them")]
    queue = chosen_queue(port, choice)
    lines = [*head, *ports, *queues, *inside]
    left = height - len(lines) - len(foot)
    history = _history(port, queue, width, left, blocks, style) if queue else []
    filler = [""] * max(0, left - len(history))
    return [*lines[: height - len(foot)], *history, *filler, *foot][:height]


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    """In as many lines as it needs, all but the first indented: a narrow terminal loses nothing."""
    return textwrap.wrap(text, width, subsequent_indent=indent) or [""]


def _queues_title(port: PortNow, settings: PortSettings) -> str:
    return f"queues of port {_name(port.number)}  {_scheduler(settings)}".rstrip()


def _with_drops(text: str, drops: str, width: int) -> list[str]:
    """A line with its drops at its end; those that do not fit stand below, from the right on."""
    line = f"{text}  {drops}"
    if len(line) <= width:
        return [line]
    if len(text) + _DROPS_ROOM < width:
        return _wrapped(line, width, " " * (len(text) + 2))
    return [text, *textwrap.wrap(drops, width, initial_indent="  " * 4, subsequent_indent="  " * 4)]


def _title(moment: Moment, choice: Choice, title: str, width: int, style: _Style) -> list[str]:
    state = "PAUSED" if choice.paused else "live"
    text = (
        f"{title}   {len(moment.ports)} ports   {moment.time_s:.1f} s   {state}   by {choice.sort}"
    )
    return [style.bold(line) for line in _wrapped(text, width, "  ")]


def _port_lines(
    moment: Moment, choice: Choice, width: int, blocks: str, style: _Style
) -> list[str]:
    room = max(6, min(_BAR_MAX, width - 62))
    head = f"{'port':>5}{'line':>11}{'out':>11}  {'use':<{room + 5}}{'packets':>8}{'dropped':>9}"
    chosen = chosen_port(moment, choice).number
    lines = [style.dim(head[:width])]
    for port in ordered(moment, choice):
        line_rate = format_rate(port.line_bps) if port.line_bps else "no limit"
        used = bar(port.utilisation, room, blocks)
        mark = ">" if port.number == chosen else " "
        text = (
            f"{mark}{_name(port.number):>4}{line_rate:>11}{format_rate(port.rate_bps):>11}  {used}"
            f"{port.utilisation:>5.0%}{port.packets:>8}{port.dropped_packets:>9}"
        )
        if port.drop_rate:
            text += f"  {port.drop_rate:.0f}/s"
        lines.append(style.warn(text[:width], port.drop_rate > 0))
    return lines


def _queue_lines(
    port: PortNow, choice: Choice, width: int, blocks: str, style: _Style
) -> list[str]:
    room = max(6, min(_BAR_MAX, width - 62))
    head = f"{'class':>6}  {'depth':<{room}}{'packets':>9}{'of':>6}{'kB':>8}{'out':>11}  drops"
    chosen = chosen_queue(port, choice)
    lines = [style.dim(head[:width])]
    queues = by_class(port)
    idle = [queue for queue in queues if queue is not chosen and _is_idle(queue)]
    # A few rows say that nothing is there; many would leave no room for others.
    folded = idle if len(queues) > _CLASSES_SHOWN else []
    for queue in queues:
        if queue in folded:
            continue
        mark = ">" if chosen is not None and queue.class_ == chosen.class_ else " "
        text = (
            f"{mark}{queue.class_:>5}  {bar(queue.fill, room, blocks)}{queue.packets:>9}"
            f"{_limit(queue.limit):>6}{queue.bytes / 1000:>8.1f}{format_rate(queue.rate_bps):>11}"
        )
        is_full = queue.fill >= _NEARLY_FULL
        rows = _with_drops(text, _reasons(queue.dropped), width)
        lines += [style.warn(row, is_full) for row in rows]
    if folded:
        names = ", ".join(str(queue.class_) for queue in folded)
        lines += map(style.dim, _wrapped(f"  nothing in classes {names}", width, "    "))
    return lines


def _is_idle(queue: QueueNow) -> bool:
    """Whether nothing waits there, passes or was dropped."""
    return not (queue.packets or queue.rate_bps or any(queue.dropped.values()))


def _name(port: int) -> str:
    """A port's number; the one to the controller is on no cable."""
    return "cpu" if port == CPU_PORT else str(port)


def _cable_lines(port: PortNow, width: int, style: _Style) -> list[str]:
    """Packets that wait or are under way outside of the router's queues; nothing if there are
    none."""
    # Losses come first: on a narrow terminal they must be seen.
    parts = [
        (port.refused, "refused by the neighbour's card"),
        (port.receive_line, "in the neighbour's card (receive line)"),
        (port.arriving, "on the cable to us"),
        (port.leaving, "on the cable from us"),
    ]
    text = ", ".join(f"{count} {what}" for count, what in parts if count)
    indent = "  "
    lines = textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent)
    return [style.warn(line, port.receive_line > 0) for line in lines]


def _outside_lines(port: PortNow, width: int, style: _Style) -> list[str]:
    """Losses and waiting bytes in the kernel or the network device, which no queue shows."""
    lines = []
    if port.lost_outside:
        text = f"  lost between this port and its network device: {_reasons(port.lost_outside)}"
        lines += _wrapped(text, width, "    ")
    held = [
        words.format(port.held_outside[name])
        for name, words in _HELD_OUTSIDE.items()
        if name in port.held_outside
    ]
    if held:
        lines += _wrapped(f"  in the kernel's buffers: {', '.join(held)}", width, "    ")
    return [style.warn(line, True) for line in lines]


def _limit(limit: Limit) -> str:
    if limit.packets:
        return str(limit.packets)
    return f"{limit.bytes // 1000}k" if limit.bytes else "-"


def _reasons(dropped: Mapping[str, int]) -> str:
    """`166 queue limit, 3 aqm`: all since the start, by reason."""
    words = (f"{count} {reason.lower().replace('_', ' ')}" for reason, count in dropped.items())
    return ", ".join(words) or "none"


def _scheduler(settings: PortSettings) -> str:
    scheduler = settings.scheduler
    if isinstance(scheduler, Hierarchy):
        return "hierarchy: " + ", ".join(
            f"{node.name} {format_rate(node.rate_bps)}" for node in scheduler.root.children
        )
    if isinstance(scheduler, Groups) and len(scheduler.groups) > _CLASSES_SHOWN:
        return "priority, first to last: " + ", ".join(map(_group, scheduler.groups))
    if isinstance(scheduler, Groups) and len(scheduler.groups) > 1:
        return "priority: " + " before ".join(map(_group, scheduler.groups))
    if isinstance(scheduler, Groups) and any(len(group.weights) > 1 for group in scheduler.groups):
        return _group(scheduler.groups[0])
    return ""


def _group(group: Group) -> str:
    """A class alone by its number, several with their weights: `drr 0:3 1:7`."""
    if len(group.weights) == 1:
        return str(next(iter(group.weights)))
    weights = " ".join(f"{class_}:{weight}" for class_, weight in group.weights.items())
    return f"{group.discipline.value} {weights}"


def _history(
    port: PortNow, queue: QueueNow, width: int, height: int, blocks: str, style: _Style
) -> list[str]:
    """The depth of the chosen queue over the last seconds, with its limit as the chart's top."""
    rows = height - 1
    if rows < 2:
        return []
    top = queue.limit.packets or max(1, *queue.history)
    scale = max(3, len(str(top)))
    depths = list(queue.history)[-(width - scale - 2) :]
    cells = [column_cells(depth / top, rows, blocks) for depth in depths]
    where = f"port {_name(port.number)} class {queue.class_}"
    title = f"{where}, packets that wait, last {len(depths) / 10:.0f} s"
    lines = [style.bold(title[:width])]
    for row in range(rows, 0, -1):
        label = str(top) if row == rows else "0" if row == 1 else ""
        lines.append(f"{label:>{scale}} |" + "".join(column[row - 1] for column in cells))
    return lines


def _input_stage(moment: Moment, width: int, style: _Style) -> list[str]:
    """How the router queues at its inputs, what waits there, and for which output."""
    stage = moment.settings.input
    if stage is None or stage.queueing is InputQueueing.NONE:
        return []
    arbiter = stage.arbiter.value if stage.arbiter else "the default"
    text = (
        f"input {stage.queueing.value}, arbiter {arbiter}, fabric {format_rate(stage.rate_bps)}"
        f" x {float(stage.speedup):g}"
    )
    matches = " ".join(f"{_name(input_)}→{_name(output)}" for input_, output in moment.matches)
    crossing = f"{text}   now crossing: {matches or 'nothing'}"
    lines = [style.bold(line) for line in _wrapped(crossing, width, "  ")]
    outputs = [port.number for port in moment.ports]
    is_voq = stage.queueing is InputQueueing.VOQ
    # Of all classes together.
    held_by_input = {
        state.port: Counter(
            itertools.chain.from_iterable([voq.output] * voq.held_packets for voq in state.voqs)
        )
        for state in moment.inputs
    }
    outputs = list(dict.fromkeys([*outputs, *itertools.chain(*held_by_input.values())]))
    idle: list[int] = []
    # The columns that there is room for; outputs for which nothing waits give way first.
    room = max(1, (width - 15 - _DROPS_ROOM) // 7)
    if is_voq and len(outputs) > room:
        idle = [
            output for output in outputs if not any(held[output] for held in held_by_input.values())
        ]
        outputs = [output for output in outputs if output not in idle]
    # More than fit even so go into a second table below, and a third.
    parts = [outputs[at : at + room] for at in range(0, len(outputs), room)] if is_voq else []
    for index, shown in enumerate(parts or [[]], 1):
        is_last = index == max(1, len(parts))
        columns = "".join(f"{f'to {_name(output)}':>7}" for output in shown)
        lines.append(style.dim(f"{'input':>6}{'packets':>9}{columns}{'  drops' * is_last}"))
        for state in moment.inputs:
            held = held_by_input[state.port]
            cells = "".join(f"{held[output] or '·':>7}" for output in shown)
            text = f"{_name(state.port):>6}{state.held_packets:>9}{cells}"
            drops = _reasons(state.dropped_packets)
            lines += _with_drops(text, drops, width) if is_last else [text]
    if idle:
        names = ", ".join(map(_name, idle))
        lines += map(style.dim, _wrapped(f"  nothing for outputs {names}", width, "    "))
    return lines


class _Style:
    """Terminal sequences, or nothing."""

    def __init__(self, styled: bool) -> None:
        self._styled = styled

    def bold(self, text: str) -> str:
        return self._in(_BOLD, text)

    def dim(self, text: str) -> str:
        return self._in(_DIM, text)

    def warn(self, text: str, holds: bool) -> str:
        return self._in(_YELLOW, text) if holds else text

    def _in(self, sequence: str, text: str) -> str:
        return f"{sequence}{text}{_PLAIN}" if self._styled else text
