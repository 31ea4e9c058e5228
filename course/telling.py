"""A judgement in words, for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from course.judge import Judgement, Verdict
from course.story import Story

_WIDTH = 96
_LABEL = 10
_STEPS_MAX = 14


class Teller:
    """Reports verdicts one by one; a story appears once."""

    def __init__(self) -> None:
        self._first: dict[Story, str] = {}

    def tell(self, verdict: Verdict) -> str:
        """A line for a case that is met, a paragraph for one that is not."""
        case = verdict.case
        remark = f" ({verdict.remark})" if verdict.remark else ""
        if verdict.story is None and verdict.waits_for:
            head = f"  met   0/{case.points:<2} {case.name}: {case.title}{remark}"
            return f"{head}\n        {waiting(verdict)}"
        if verdict.story is None:
            return f"  ok    {case.points:3}  {case.name}: {case.title}{remark}"
        head = f"  FAIL  0/{case.points:<2} {case.name}: {case.title}{remark}"
        before = earlier(self._first, verdict)
        if before:
            return f"{head}\n        {same_as(before)}"
        return "\n".join([head, *paragraphs(verdict.story)])


def same_as(case: str) -> str:
    """The line that replaces a story that appears with an earlier case."""
    return f"for the reason told at {case}"


def with_earlier(verdicts: Iterable[Verdict]) -> Iterator[tuple[Verdict, str]]:
    """Each verdict, and the case that told its story before; empty: none."""
    first: dict[Story, str] = {}
    for verdict in verdicts:
        yield verdict, earlier(first, verdict)


def earlier(first: dict[Story, str], verdict: Verdict) -> str:
    """The earlier case with the same story; empty: none. `first` has the case of each story."""
    name = verdict.case.name
    before = first.setdefault(verdict.story, name) if verdict.story else name
    return before if before != name else ""


def waiting(verdict: Verdict) -> str:
    """Why a case that is met earns nothing yet."""
    names = verdict.waits_for
    return f"It earns points once {' and '.join(names)} {'does' if len(names) == 1 else 'do'}."


def paragraphs(story: Story) -> list[str]:
    """A story, each of its parts under a label."""
    lines: list[str] = []
    for label, text in (
        ("done", story.done),
        ("expected", story.expected),
        ("because", story.because),
        ("came", story.came),
    ):
        lines += _wrapped(label, text)
    for number, step in enumerate(story.way[:_STEPS_MAX]):
        lines.append(f"        {'its way' if number == 0 else '':{_LABEL}}{step}")
    if len(story.way) > _STEPS_MAX:
        lines.append(f"        {'':{_LABEL}}... and {len(story.way) - _STEPS_MAX} more")
    if story.again:
        # A command is copied, so it is never broken.
        lines.append(f"        {'again':{_LABEL}}{story.again}")
    if story.link:
        lines.append(f"        {'see':{_LABEL}}{story.link}")
    return lines


def summary(judgement: Judgement, live: bool = False) -> str:
    """The last line: points, and what to do next."""
    met = sum(verdict.counts for verdict in judgement.verdicts)
    text = (
        f"{judgement.exercise.name}: {judgement.points} of {judgement.out_of} points, "
        f"{met} of {len(judgement.verdicts)} cases"
    )
    first = next((each.case.name for each in judgement.verdicts if each.story), None)
    if first is None:
        return text
    again = f"vitrine check {judgement.exercise.name} --case {first}{' --live' if live else ''}"
    return f"{text}\nThe next one alone: {again}"


def _wrapped(label: str, text: str) -> list[str]:
    indent = " " * (8 + _LABEL)
    wrapped = textwrap.wrap(text, _WIDTH - len(indent), break_long_words=False)
    return [
        f"        {label:{_LABEL}}{line}" if number == 0 else indent + line
        for number, line in enumerate(wrapped)
    ]
