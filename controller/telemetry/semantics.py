"""The units of telemetry values, which INT leaves to every device to declare.

The file says, for each value that has a unit, what a step of it is: `hop_latency: ns`. Whoever
reads values without it reads numbers without meaning, so the collector asks for it, and writes the
units into the files it makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from controller import plain_yaml
from controller.errors import ControllerError

# The units a value may have, and how many of them make one of the unit it is shown in.
TIME_UNITS_NS = {"ns": 1, "us": 1000, "ms": 1_000_000}
SIZE_UNITS = ("bytes", "packets", "cells")
SHARE_UNITS = {"percent": 1.0, "0.1 percent": 0.1, "0.01 percent": 0.01}

_UNITS_OF = {
    "hop_latency": tuple(TIME_UNITS_NS),
    "ingress_time": tuple(TIME_UNITS_NS),
    "egress_time": tuple(TIME_UNITS_NS),
    "queue_occupancy": SIZE_UNITS,
    "buffer_occupancy": SIZE_UNITS,
    "egress_utilisation": tuple(SHARE_UNITS),
}
_INSTANTS = ("enqueue", "dequeue")
_INSTANT_KEYS = ("queue_occupancy_at", "buffer_occupancy_at")

# Far beyond any file of units.
_BYTES_MAX = 64 << 10

KIT_SEMANTICS = Path(__file__).with_name("semantics.yaml")


class SemanticsError(ControllerError):
    """The file of units is wrong; the sentence names the file, the value and what it may be."""


@dataclass(frozen=True)
class Semantics:
    """The unit of every value, and when an occupancy was taken."""

    units: Mapping[str, str]
    occupancy_at: Mapping[str, str]
    # The meanings of the numbers of a drop's reason.
    drop_reasons: Mapping[int, str]


def load_semantics(path: Path = KIT_SEMANTICS) -> Semantics:
    """Reads a file of units; `SemanticsError` says what is wrong with it."""
    try:
        with path.open("rb") as file:
            text = file.read(_BYTES_MAX + 1)
        if len(text) > _BYTES_MAX:
            raise SemanticsError(f"{path}: the file is larger than {_BYTES_MAX >> 10} KiB.")
        content = plain_yaml.content(text.decode())
    except plain_yaml.PlainYamlError as error:
        raise SemanticsError(f"{path}: the file {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise SemanticsError(f"{path}: the units cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise SemanticsError(f"{path}: a list of 'value: unit' lines was expected.")
    known = {**_UNITS_OF, **dict.fromkeys(_INSTANT_KEYS, _INSTANTS)}
    for name, choices in known.items():
        value = content.get(name)
        said = repr(value)[:60] if isinstance(value, str | None) else "not a word"
        if value not in choices:
            raise SemanticsError(
                f"{path}: {name} is {said}; it must be one of: {', '.join(choices)}."
            )
    if unknown := sorted(set(map(str, content)) - set(known) - {"drop_reasons"}):
        raise SemanticsError(
            f"{path}: {unknown[0]} is no telemetry value; there are: {', '.join(known)}."
        )
    return Semantics(
        units={name: content[name] for name in _UNITS_OF},
        occupancy_at={name: content[name] for name in _INSTANT_KEYS},
        drop_reasons=_drop_reasons(path, content.get("drop_reasons", {})),
    )


def _drop_reasons(path: Path, table: object) -> dict[int, str]:
    if not isinstance(table, dict) or not all(
        isinstance(number, int) and 0 <= number <= 0xFF and isinstance(name, str)
        for number, name in table.items()
    ):
        raise SemanticsError(f"{path}: drop_reasons must be lines of 'number: name', 0 to 255.")
    return table
