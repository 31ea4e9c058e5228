"""The story that a failed check tells.

A check that fails has done something, expected something for a reason that can be looked up, and
seen something else. `Story` has a field for each, so that none of them can be left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Moment:
    """An instant of a check's network."""

    at_s: float
    # The network's name; empty: the one of the story.
    film: str = ""


@dataclass(frozen=True)
class Story:
    """Why a case was refused."""

    # The check's actions, with every number that matters.
    done: str
    expected: str
    # The formula, or the section of the specification.
    because: str
    came: str
    # Steps of the packet or of the decision that lead there, one a line.
    way: tuple[str, ...] = ()
    # The command line that does the same again; empty: the case is checked once more.
    again: str = ""
    # The moment to look at, if there was a network.
    moment: Moment | None = None
    # The page that opens at this moment, once it is written, and what waited then, as SVG.
    link: str = ""
    picture: str = ""

    def shortened(self) -> Story:
        """The same with no text longer than anybody reads: parts of it are a submission's words."""
        way = tuple(_short(step, _STEP_MAX) for step in self.way[:_STEPS_MAX])
        if len(self.way) > _STEPS_MAX:
            way += (f"... and {len(self.way) - _STEPS_MAX} more",)
        return replace(
            self,
            done=_short(self.done, _TEXT_MAX),
            expected=_short(self.expected, _TEXT_MAX),
            because=_short(self.because, _TEXT_MAX),
            came=_short(self.came, _TEXT_MAX),
            way=way,
        )


_TEXT_MAX, _STEP_MAX, _STEPS_MAX = 2000, 300, 200


def _short(text: str, most: int) -> str:
    text = plain(text[: most + 1])
    return text if len(text) <= most else f"{text[: most - 3]}..."


def plain(text: str) -> str:
    """A text without effects on a terminal."""
    return "".join(each if each.isprintable() or each == "\n" else "?" for each in text)


class Refused(Exception):  # noqa: N818 - it is a verdict and no error
    """A case is not met, for the reason in its story."""

    def __init__(self, story: Story) -> None:
        super().__init__(story.came)
        self.story = story
