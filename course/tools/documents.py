"""Text files of a submission that the check reads by itself."""

from __future__ import annotations

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
    except yaml.YAMLError as error:
        raise _refused(name, f"It is not YAML: {error}.") from error
    return text


def _refused(name: str, came: str) -> Refused:
    return Refused(
        Story(
            done=f"The check read {name}.",
            expected="The file that you began with, filled in.",
            because="It is the one that the handout names under 'What to hand in'.",
            came=came,
        )
    )
