"""The networks of the labs on TCP and on how long a queue should be."""

from __future__ import annotations

from collections.abc import Sequence

from labs.bdp_tcp_windows.lab import LINE as LONG_LINE
from labs.bdp_tcp_windows.lab import BdpTcpWindows
from labs.bench import FIRST_IPERF_PORT
from labs.congestion_controls import lab as controls
from labs.declared import from_file as declared
from labs.router_buffer_size.lab import LINE, RouterBufferSize
from labs.scenarios.scenario import PS_PER_S, Scenario, ping, tcp
from labs.settings import Settings
from labs.sizing_router_buffers.lab import SizingRouterBuffers
from labs.square_root_rule import lab as rule

_QUICK = Settings(quick=True)


def _bottleneck() -> Scenario:
    lab = declared.named("bottleneck")(_QUICK)
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="One TCP flow fills the queue before a slow line, loses a packet and falls back: a "
        "saw. Change its congestion control, its rate, its queue.",
        topology=lab.topology(),
        apps=[*tcp("h1", "h2", FIRST_IPERF_PORT, "reno"), ping("h1", "h2")],
        router="s1",
        port=lab.place.port,
        pace=1e-2,
    )


def _bdp() -> Scenario:
    lab = BdpTcpWindows(_QUICK)
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="A long fat path that stays two thirds empty: the receiver's window is smaller "
        "than what the path holds.",
        topology=lab.topology(lab.runs()[0]),
        apps=tcp("h1", "h2", FIRST_IPERF_PORT, "cubic"),
        router="s1",
        port=LONG_LINE,
        pace=2e-3,
    )


def _sizing() -> Scenario:
    lab = SizingRouterBuffers(_QUICK)
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="How short can the queue of one flow be before the line runs empty? Make it "
        "shorter and watch the saw reach the ground.",
        topology=lab.topology(next(run for run in lab.runs() if run.name == "buffer-18")),
        apps=tcp("h1", "h2", FIRST_IPERF_PORT, "reno"),
        router="s1",
        port=lab.place.port,
        pace=1e-2,
    )


def _square_root() -> Scenario:
    lab = rule.SquareRootRule(_QUICK)
    ten = next(each for each in rule.LOADS if each.flows == rule.SENDERS)
    senders = range(1, rule.SENDERS + 1)
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="Ten flows from different distances before a third of the buffer that one of them "
        "would need, and the line is still busy. Make the queue shorter: when does it idle?",
        topology=lab.topology(ten, 1.0),
        apps=[
            app
            for number in senders
            for app in tcp(f"h{number}", f"h{rule.LINE}", FIRST_IPERF_PORT + number - 1, "reno")
        ],
        router="s1",
        port=rule.LINE,
        pace=5e-3,
        settled_ps=4 * PS_PER_S,
    )


def _buffer_size() -> Scenario:
    lab = RouterBufferSize(_QUICK)
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="BBR and CUBIC share a line: who gets how much depends on the router's buffer.",
        topology=lab.topology(lab.runs()[2]),
        apps=[
            *tcp("h1", "h2", FIRST_IPERF_PORT, "bbr"),
            *tcp("h3", "h4", FIRST_IPERF_PORT + 1, "cubic"),
        ],
        router="s1",
        port=LINE,
        pace=2e-3,
    )


def _controls() -> Scenario:
    lab = controls.CongestionControls(_QUICK)
    part = next(each for each in controls.PARTS if each.is_far)
    return Scenario(
        name=lab.name,
        title=lab.title,
        summary="Two flows of Reno on one line, h2's from four times as far: the nearer one gets "
        "most of it. Change the cables, or start other congestion controls beside them.",
        topology=lab.topology(part),
        apps=[
            *tcp("h1", "h3", FIRST_IPERF_PORT, "reno"),
            *tcp("h2", "h3", FIRST_IPERF_PORT + 1, "reno"),
        ],
        router="s1",
        port=controls.LINE,
        pace=1e-2,
        settled_ps=10 * PS_PER_S,
    )


def tcp_labs() -> Sequence[Scenario]:
    """All of them, in the order of the labs."""
    return (_bottleneck(), _bdp(), _sizing(), _square_root(), _buffer_size(), _controls())
