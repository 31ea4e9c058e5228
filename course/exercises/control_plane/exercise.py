"""The checks of a control plane: its answers, its ARP requests, its routes."""

from __future__ import annotations

from course.exercise import Case, Exercise, Work
from course.exercises.control_plane import answers, roads
from course.exercises.control_plane.process import FILE
from course.tools.insides import require_file


def begin(work: Work) -> Work:
    """Each case makes control planes of its own."""
    require_file(work, FILE)
    return work


EXERCISE = Exercise(
    name=roads.NAME,
    title="The control plane",
    question="Who fills a router's table, and who answers in its name?",
    minutes=240,
    files=(FILE, "frames.py"),
    begin=begin,
    cases=(
        Case("arp", "Who asks for its address is answered.", 10, answers.arp),
        Case("ping", "Each of its addresses answers pings.", 10, answers.ping),
        Case("time-exceeded", "A used-up TTL is told of.", 10, answers.time_exceeded),
        Case("unreachable", "So is a missing way, and never an error.", 10, answers.unreachable),
        Case("neighbours", "Packets wait while the next hop is asked for.", 15, roads.neighbours),
        Case("static", "Hosts talk over static routes.", 10, roads.static, live=True),
        Case(
            "shortest",
            "Three to six routers find the cheapest ways.",
            15,
            roads.shortest,
            live=True,
        ),
        Case("cut", "A cut link is gone round within a second.", 10, roads.cut, live=True),
        Case("old-news", "Old adverts change nothing and are not passed on.", 5, roads.old_news),
        Case("interoperates", "Others' routers are understood.", 5, roads.interoperates, live=True),
    ),
)
