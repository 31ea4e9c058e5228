"""Text files of a submission that the check reads by itself."""

from __future__ import annotations

import math

from controller import plain_yaml
from course.exercise import Work
from course.story import Refused, Story

_BYTES_MAX = 20_000


def yaml_content(work: Work, name: str) -> object:
    """The content of a YAML file; one that cannot be read is refused in the reader's words."""
    file = work.folder / name
    if not file.is_file():
        raise _refused(name, "There is no such file in the folder.")
    with file.open("rb") as opened:
        content = opened.read(_BYTES_MAX + 1)
    if len(content) > _BYTES_MAX:
        raise _refused(name, f"It has more than {_BYTES_MAX} bytes.")
    try:
        return plain_yaml.content(content.decode(errors="replace"))
    except plain_yaml.PlainYamlError as error:
        raise _refused(name, f"It {error}") from error


def finite(value: object) -> float | None:
    """A number of a submission as a float; None where it is anything but a finite number.

    YAML and JSON have more than numbers to offer: `.nan` is within any distance of everything,
    `true` is 1, and 400 digits fit no float.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def _refused(name: str, came: str) -> Refused:
    return Refused(
        Story(
            done=f"The check read {name}.",
            expected="The file that you began with, filled in.",
            because="It is the one that the handout names under 'What to hand in'.",
            came=came,
        )
    )
