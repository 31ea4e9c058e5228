"""The checks of a file of classes: how long calls wait, and the others' share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vitrine.v1 import world_pb2

from controller.world import PS_PER_S
from course.exercise import Case, Exercise, Work
from course.exercises.voice_and_bulk.line import CALLS, SECONDS, Bench, Line, Net, read
from course.story import Moment, Refused, Story

NAME = "voice-and-bulk"
WAIT_MOST_S = 0.010
LOST_MOST = 0.01
LONGEST_FRAME_BYTES = 1514
BULK_WAIT_MOST_S = 0.060

_VOICE = (
    "ITU-T G.114: 150 ms from mouth to ear are hardly noticed, and a call crosses many routers, so "
    "each has some ten. A line that is just sending a long packet finishes it first: "
)


@dataclass(frozen=True)
class Mix:
    """The traffic beside the calls."""

    case: str
    done: str
    send: Callable[[Net, Line], None]


def _run(bench: Bench, mix: Mix, judge: Callable[[Mix, Bench, Net], None]) -> None:
    with bench.router(mix.case) as net:
        mix.send(net, bench.line)
        net.to_the_end()
        judge(mix, bench, net)


def _refuse(mix: Mix, expected: str, because: str, came: str, at_s: float) -> None:
    done = f"{CALLS} calls crossed your line for {SECONDS:.0f} s, and {mix.done}."
    raise Refused(Story(done, expected, because, came, moment=Moment(at_s)))


def calls_are_well(mix: Mix, bench: Bench, net: Net) -> None:
    """Hardly a packet of a call is lost, and none waits long."""
    flows, sent = net.calls(), net.sent()
    received = sum(flow.received for flow in flows)
    longest_ms = LONGEST_FRAME_BYTES * 8 / bench.line.rate_bps * 1000
    because = f"{_VOICE}{longest_ms:.1f} ms on yours. The rest is up to who is served next."
    # Packets still on the cable are not lost.
    if received < (1 - LOST_MOST) * sent - CALLS:
        _refuse(
            mix,
            f"At most {LOST_MOST:.0%} of the calls' packets to be missing.",
            because,
            f"Of {sent} packets {sent - received} are missing.",
            net.first_s(lambda flow: flow.lost > 0),
        )
    # The first packets of each call had the line for themselves.
    wait_s = max(map(_wait_s, flows))
    if wait_s > WAIT_MOST_S:
        _refuse(
            mix,
            f"No packet of a call to wait longer than {WAIT_MOST_S * 1000:.0f} ms.",
            because,
            f"One waited {wait_s * 1000:.1f} ms longer than the quickest.",
            net.first_s(lambda flow: _wait_s(flow) > WAIT_MOST_S),
        )


def _wait_s(flow: world_pb2.DatagramFlow) -> float:
    """How much longer than the quickest packet of a call the slowest was under way."""
    return (flow.delay_max_ps - flow.delay_min_ps) / PS_PER_S


def _bulk_gets(least: float, because: str) -> Callable[[Mix, Bench, Net], None]:
    def judge(mix: Mix, bench: Bench, net: Net) -> None:
        share = net.bulk_share()
        if share < least:
            _refuse(
                mix,
                f"Downloads to get at least {least:.0%} of the line.",
                because,
                f"They got {share:.0%}.",
                SECONDS / 2,
            )

    return judge


# ---- the mixes -----------------------------------------------------------------------------------


def _one_download(net: Net, line: Line) -> None:
    net.downloads("h2", 1)


def _many_downloads(net: Net, line: Line) -> None:
    net.downloads("h2", 6)
    net.downloads("h3", 4, "reno")


def _blind_flood(net: Net, line: Line) -> None:
    net.downloads("h2", 2)
    net.flood(9, 1.5)


def _greedy_caller(net: Net, line: Line) -> None:
    net.downloads("h2", 2)
    net.flood(line.voice_port, 2.0)


ONE = Mix("one-download", "h2 sent a download over TCP", _one_download)
MANY = Mix("many-downloads", "h2 and h3 sent ten downloads over TCP", _many_downloads)
FLOOD = Mix(
    "blind-flood",
    "h2 sent two downloads, and h3 UDP to another port, one and a half times what the line carries",
    _blind_flood,
)
GREEDY = Mix(
    "greedy-caller",
    "h2 sent two downloads, and h3 twice what the line carries to the calls' port",
    _greedy_caller,
)
_REST = "What the calls leave, nine tenths of your line, is for whoever wants it. "


def one_download(bench: Bench) -> None:
    """Calls beside a download."""
    _run(bench, ONE, calls_are_well)


def many_downloads(bench: Bench) -> None:
    """Calls beside many."""
    _run(bench, MANY, calls_are_well)


def blind_flood(bench: Bench) -> None:
    """Calls beside a flood without congestion control."""
    _run(bench, FLOOD, calls_are_well)


def bulk_share(bench: Bench) -> None:
    """Downloads get what calls leave."""
    because = _REST + "TCP needs a queue of about a bandwidth-delay product to keep a line busy."
    _run(bench, ONE, _bulk_gets(0.75, because))


def bulk_wait(bench: Bench) -> None:
    """Downloads do not wait for themselves."""

    def judge(mix: Mix, bench: Bench, net: Net) -> None:
        wait_s = net.bulk_wait_s()
        if wait_s > BULK_WAIT_MOST_S:
            _refuse(
                mix,
                f"A mean wait of downloads below {BULK_WAIT_MOST_S * 1000:.0f} ms.",
                "A TCP flow fills whatever queue it finds; what is more than a round trip's worth "
                "only makes it wait for itself. A shorter limit or queue management ends that.",
                f"{wait_s * 1000:.0f} ms.",
                SECONDS / 2,
            )

    _run(bench, ONE, judge)


def greedy_caller(bench: Bench) -> None:
    """No traffic starves because another claims to be a call."""
    because = (
        _REST + "Strict priority gives a class all it asks for, so who may ask for everything "
        "starves the others: a class that goes first needs a rate that it cannot exceed."
    )
    _run(bench, GREEDY, _bulk_gets(0.5, because))


def unseen(bench: Bench) -> None:
    """A mix that was not announced."""
    dice = bench.work.dice("unseen")
    first, second = dice.randrange(1, 6), dice.randrange(1, 6)
    algorithms = [dice.choice(("cubic", "reno", "bbr")) for _ in range(2)]
    load, burst = dice.uniform(0.1, 0.3), dice.randrange(5, 30)

    def send(net: Net, line: Line) -> None:
        net.downloads("h2", first, algorithms[0])
        net.downloads("h3", second, algorithms[1])
        net.flood(53, load, burst)

    done = (
        f"h2 sent {first} downloads over {algorithms[0]}, h3 {second} over {algorithms[1]} and UDP "
        f"in bursts of {burst}, {load:.0%} of the line"
    )
    mix = Mix("unseen", done, send)

    def judge(mix: Mix, bench: Bench, net: Net) -> None:
        calls_are_well(mix, bench, net)
        _bulk_gets(0.4, _REST)(mix, bench, net)

    _run(bench, mix, judge)


def own(work: Work) -> str:
    """A student's own line."""
    return str(Line.of(work))


EXERCISE = Exercise(
    name=NAME,
    title="Voice and bulk",
    question="How do calls and downloads share a line, so that neither spoils the other?",
    minutes=75,
    files=("qos.yaml",),
    begin=read,
    own=own,
    cases=(
        Case("one-download", "Calls are well beside a download.", 15, one_download, live=True),
        Case("many-downloads", "And beside ten of them.", 15, many_downloads, live=True),
        Case("blind-flood", "And beside who listens to nothing.", 15, blind_flood, live=True),
        # Where calls have no class of their own, downloads have it all.
        Case(
            "bulk-share",
            "Downloads get what calls leave.",
            15,
            bulk_share,
            live=True,
            behind=("one-download",),
        ),
        Case(
            "bulk-wait",
            "Downloads do not wait for themselves.",
            10,
            bulk_wait,
            live=True,
            behind=("one-download",),
        ),
        Case(
            "greedy-caller",
            "Nobody starves for somebody who claims to call.",
            15,
            greedy_caller,
            live=True,
            behind=("one-download",),
        ),
        Case("unseen", "All of it in a mix that was not announced.", 15, unseen, live=True),
    ),
)
