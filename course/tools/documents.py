"""Text files of a submission that the check reads by itself."""

from __future__ import annotations

import math

import yaml

from course.exercise import Work
from course.story import Refused, Story

_BYTES_MAX = 20_000


def yaml_text(work: Work, name: str) -> str:
    """The text of a YAML file that is safe to read: short, and without aliases.

    A few lines with aliases can stand for more than a memory holds.
    """
    file = work.folder / name
    if not file.is_file():
        raise _refused(name, "There is no such file in the folder.")
    content = file.read_bytes()
    if len(content) > _BYTES_MAX:
        raise _refused(name, f"It has more than {_BYTES_MAX} bytes.")
    text = content.decode(errors="replace")
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise _refused(name, "It has aliases (*name), which no exercise needs.")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _refused(name, f"It is not YAML: {str(error)[:500]}.") from error
    return text


def yaml_content(work: Work, name: str) -> object:
    """What a YAML file says; refused in the reader's words where it cannot be read."""
    text = yaml_text(work, name)
    try:
        return yaml.safe_load(text)
    # A date that does not exist and a number of 5,000 digits are errors of Python, not of YAML.
    except (yaml.YAMLError, ValueError, ArithmeticError, RecursionError) as error:
        raise _refused(name, f"It cannot be read: {str(error)[:200]}.") from error


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
