"""Computes and measures what a solution says, for a student's line.

In a solution `=...` stands for what it computes to.
"""

import functools
import re
import tempfile
from math import sqrt
from pathlib import Path

from course.exercise import Work
from course.exercises.how_much_buffer.exercise import FILE, one_flow_loses, one_flow_uses
from course.exercises.how_much_buffer.measure import Line, measure
from course.process import Runner


@functools.cache
def measured(seed: str, flows: int, buffer_packets: int):
    """One run, as the command of the handout does it."""
    with tempfile.TemporaryDirectory() as scratch:
        work = Work(Path(scratch), Path(scratch), seed, Runner())
        return measure(work, Line.of(work), flows, buffer_packets, seed=1)


def fill(folder: Path, seed: str) -> None:
    """Writes the numbers into answers.yaml."""
    line = Line.of(Work(folder, folder, seed, Runner()))
    known = {
        "bdp": line.bdp_packets,
        "flows": line.flows,
        "sqrt": sqrt,
        "one_flow_uses": one_flow_uses,
        "one_flow_loses": one_flow_loses,
        "measured": lambda flows, buffer: measured(seed, flows, max(1, round(buffer))),
    }
    text = (folder / FILE).read_text()
    filled = re.sub(r"(?<=: )=(.*)", lambda match: f"{eval(match[1], known):.7f}", text)
    (folder / FILE).write_text(filled)
