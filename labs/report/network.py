"""A drawing of a lab's network: hosts, routers, lines, and the queue that the lab is about."""

from __future__ import annotations

import matplotlib.figure
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch

from labs import palette
from labs.definition import Figure, Place
from labs.report import drawing
from topo.model import End, Link, Port, Topology
from topo.units import format_rate

# Distances in the drawing, in inches.
_ROUTER_GAP, _ROUTER_ROW, _HOST_GAP, _ROW = 3.0, 1.7, 2.3, 0.95
_ROUTER_W, _ROUTER_H, _HOST_R = 0.95, 0.6, 0.28
# How far from a router's middle its port stands, and how far the mark of the measured one reaches.
_PORT_OUT, _MARK_R = 0.66, 0.07


def figure(place: Place) -> Figure:
    """The network of a lab, with its place marked."""
    port = place.topology.switch(place.switch).port(place.port)
    far = place.topology.neighbour(End(place.switch, place.port))
    caption = (
        f"The network. The lab looks into the queue of {place.switch} at its port {place.port} "
        f"toward {far.node}: {_port_words(place.topology, place.switch, port)}."
    )
    if place.input_port is not None:
        caption += f" It also looks at what waits in the input of port {place.input_port}."
    (left, right), (low, high) = _extent(_places(place.topology))
    height = drawing.WIDTH_IN * (high - low) / (right - left)
    return Figure("network", caption, lambda canvas: _draw(canvas, place), height=height)


def _extent(places: dict[str, tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """The extent of the drawing, with room around the nodes; never very high."""
    xs, ys = zip(*places.values(), strict=True)
    aside = max(0.7, (7.0 - (max(xs) - min(xs))) / 2)
    return (min(xs) - aside, max(xs) + aside), (min(ys) - 0.55, max(ys) + 0.8)


def _sides(topology: Topology) -> dict[str, tuple[str, str]]:
    """Where each host stands: at which router, and on which side of it."""
    names = [switch.name for switch in topology.switches]
    sides = {}
    for host in topology.hosts:
        switch, _ = topology.attachment(host.name)
        own = [each.name for each in topology.hosts if topology.attachment(each.name)[0] == switch]
        if len(names) == 1:
            side = "left" if own.index(host.name) < (len(own) + 1) // 2 else "right"
        elif switch.name == names[0]:
            side = "left"
        else:
            side = "right" if switch.name == names[-1] else "below"
        sides[host.name] = (switch.name, side)
    return sides


def _places(topology: Topology) -> dict[str, tuple[float, float]]:
    routers = _router_places(topology)
    places = dict(routers)
    sides = _sides(topology)
    for spot in dict.fromkeys(sides.values()):
        hosts = [host for host, each in sides.items() if each == spot]
        switch, side = spot
        x, y = routers[switch]
        for index, host in enumerate(hosts):
            shift = ((len(hosts) - 1) / 2 - index) * _ROW
            if side == "below":
                places[host] = (x + (index - (len(hosts) - 1) / 2) * _ROW, y - 1.35 * _ROW)
            else:
                places[host] = (x + (-_HOST_GAP if side == "left" else _HOST_GAP), y + shift)
    return places


def _router_places(topology: Topology) -> dict[str, tuple[float, float]]:
    """From left to right as far from the first router; those that are alike above each other."""
    columns: dict[int, list[str]] = {}
    for name, far in _distances(topology).items():
        columns.setdefault(far, []).append(name)
    return {
        name: (far * _ROUTER_GAP, ((len(names) - 1) / 2 - index) * _ROUTER_ROW)
        for far, names in columns.items()
        for index, name in enumerate(names)
    }


def _distances(topology: Topology) -> dict[str, int]:
    """How many lines each router is away from the first one; one that is not reached is last."""
    first = topology.switches[0].name
    far = {first: 0}
    waiting = [first]
    while waiting:
        here = waiting.pop(0)
        for link in topology.links:
            ends = {link.a.node, link.b.node}
            if here in ends and None not in (link.a.port, link.b.port):
                for node in ends - far.keys():
                    far[node] = far[here] + 1
                    waiting.append(node)
    names = [switch.name for switch in topology.switches]
    return {name: far.get(name, len(names)) for name in names}


def _draw(canvas: matplotlib.figure.Figure, place: Place) -> None:
    axes = canvas.subplots()
    axes.set_axis_off()
    axes.set_aspect("equal")
    places = _places(place.topology)
    for link in place.topology.links:
        _draw_link(axes, place, link, places)
    for name, (x, y) in places.items():
        if any(switch.name == name for switch in place.topology.switches):
            box = FancyBboxPatch(
                (x - _ROUTER_W / 2, y - _ROUTER_H / 2),
                _ROUTER_W,
                _ROUTER_H,
                boxstyle="round,pad=0.02,rounding_size=0.1",
                facecolor="#eef4f9",
                edgecolor=drawing.INK,
                zorder=3,
            )
            axes.add_patch(box)
            axes.text(x, y, f"router\n{name}", ha="center", va="center", fontsize=9, zorder=4)
        else:
            own = palette.of_name(name, len(palette.FLOWS) - 1)
            axes.add_patch(
                Circle((x, y), _HOST_R, facecolor="white", edgecolor=own, linewidth=2, zorder=3)
            )
            axes.text(x, y, name, ha="center", va="center", fontsize=9, zorder=4)
    horizontal, vertical = _extent(places)
    axes.set_xlim(*horizontal)
    axes.set_ylim(*vertical)


def _draw_link(
    axes: Axes, place: Place, link: Link, places: dict[str, tuple[float, float]]
) -> None:
    (ax, ay), (bx, by) = places[link.a.node], places[link.b.node]
    axes.plot([ax, bx], [ay, by], color=palette.GREY, linewidth=1.2, zorder=1)
    for end, (x, y), (to_x, to_y) in (
        (link.a, (ax, ay), (bx, by)),
        (link.b, (bx, by), (ax, ay)),
    ):
        if end.port is None:
            continue
        is_measured = _is_measured(place, end)
        length = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5
        out = _PORT_OUT / length if length else 0
        at = (x + (to_x - x) * out, y + (to_y - y) * out)
        if is_measured:
            axes.plot(*at, marker="s", markersize=9, color=palette.RED, zorder=5)
            axes.annotate(
                "measured here",
                at,
                xytext=(0, -40 if to_y < y else 34),
                textcoords="offset points",
                ha="center",
                fontsize=8.5,
                color=palette.RED,
                # Above, it ends before the port's number.
                arrowprops={
                    "arrowstyle": "-",
                    "color": palette.RED,
                    "linewidth": 0.8,
                    "shrinkA": 1,
                    "shrinkB": 5 if to_y < y else 19,
                },
            )
        # Above its line; beside one that goes up or down.
        beside = (7, -3) if abs(to_y - y) > abs(to_x - x) else (0, 8 if is_measured else 6)
        axes.annotate(
            str(end.port), at, xytext=beside, textcoords="offset points",
            ha="center", fontsize=7.5, color=palette.GREY,
        )  # fmt: skip
    # The middle of the visible part of the line, between a router's box, or the mark in front of
    # it, and a host's circle.
    near, far = (_taken(place, end) for end in (link.a, link.b))
    share = 0.5 + (near - far) / 2 / max(1.0, ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5)
    axes.text(
        ax + (bx - ax) * share,
        ay + (by - ay) * share,
        _link_words(place.topology, link),
        ha="center",
        va="center",
        fontsize=8,
        zorder=2,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )


def _is_measured(place: Place, end: End) -> bool:
    return end.node == place.switch and end.port in (place.port, place.input_port)


def _taken(place: Place, end: End) -> float:
    """How much of a line its end hides."""
    if end.port is None:
        return _HOST_R
    return _PORT_OUT + _MARK_R if _is_measured(place, end) else _ROUTER_W / 2


def _link_words(topology: Topology, link: Link) -> str:
    """Rate and delay; of both directions where they differ."""
    ports = [
        topology.switch(end.node).port(end.port) for end in (link.a, link.b) if end.port is not None
    ]
    rates = dict.fromkeys(format_rate(port.rate_bps) for port in ports if port.rate_bps)
    delays = [port.cable.transmit.delay_ns + port.cable.receive.delay_ns for port in ports]
    words = [" / ".join(rates)] if rates else []
    if any(delays):
        words.append(f"{_milliseconds(sum(delays))} round trip")
    return "\n".join(words)


def _milliseconds(delay_ns: int) -> str:
    return f"{delay_ns / 1e6:g} ms"


def _port_words(topology: Topology, switch: str, port: Port) -> str:
    words = [f"a line of {format_rate(port.rate_bps)}" if port.rate_bps else "a line without limit"]
    queue = port.settings.every_queue
    if queue and queue.limit and (queue.limit.packets or queue.limit.bytes):
        limit = queue.limit
        size = f"{limit.packets} packets" if limit.packets else f"{limit.bytes:,} bytes"
        count = port.settings.queue_count or 1
        words.append(f"a queue of {size}" if count == 1 else f"{count} queues of {size} each")
    return ", ".join(words)
