"""What a check tells when it is not content.

A check that fails has done something, expected something for a reason that can be looked up, and
seen something else. `Story` has a field for each, so that none of them can be left out.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Moment:
    """An instant of a check's network."""

    at_s: float
    # The network's name; empty: the one in which the story was told.
    film: str = ""


@dataclass(frozen=True)
class Story:
    """Why a case was refused."""

    # What the check did, with every number that matters.
    done: str
    expected: str
    # The formula, or the section of the specification.
    because: str
    came: str
    # Steps of the packet or of the decision that lead there, one a line.
    way: tuple[str, ...] = ()
    # The command line that does the same again; empty: the case is checked once more.
    again: str = ""
    # What to look at, where there was a network.
    moment: Moment | None = None
    # The page that opens at this moment, once it is written, and what waited then, as SVG.
    link: str = ""
    picture: str = ""


class Refused(Exception):  # noqa: N818 - it is a verdict and no error
    """A case is not met, for the reason in its story."""

    def __init__(self, story: Story) -> None:
        super().__init__(story.came)
        self.story = story
