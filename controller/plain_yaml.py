"""Small YAML files that anybody may have written, read at bounded cost.

Aliases are refused: a few lines of them, and of merges (`<<`), stand for more than a memory holds,
and no such file needs one. The caller bounds the length. Topologies have aliases, and a reader that
counts them: `topo.document`.
"""

from __future__ import annotations

import yaml

from controller.errors import ControllerError

_WORDS_MAX = 500
# PyYAML looks at every open bracket again for each that follows.
_DEPTH_MAX = 50


class PlainYamlError(ControllerError):
    """The mistake in a text. Put the file's name, or "It", in front to make a sentence."""


def content(text: str) -> object:
    """The content of a text."""
    try:
        depth = 0
        for event in yaml.parse(text, yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise PlainYamlError("has aliases (*name), which no such file needs.")
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEPTH_MAX:
                line = event.start_mark.line + 1
                raise PlainYamlError(f"is nested more than {_DEPTH_MAX} deep in line {line}.")
        return yaml.safe_load(text)
    # A date that does not exist and a number of 5,000 digits are errors of Python, not of YAML.
    except (yaml.YAMLError, ValueError, ArithmeticError, RecursionError) as error:
        raise PlainYamlError(f"cannot be read: {str(error)[:_WORDS_MAX]}.") from error
