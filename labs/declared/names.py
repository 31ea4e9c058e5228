"""The values and functions that the expressions of a lab's file may use."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from labs import expression, frames
from labs.expression import FUNCTIONS, Functions, Value
from topo.document import Place

T = TypeVar("T")

# The same for all labs.
CONSTANTS: Mapping[str, Value] = {
    "frame_bytes": frames.FRAME_BYTES,
    "mtu_bytes": frames.MTU_BYTES,
    "payload_bytes": frames.PAYLOAD_BYTES,
}
FORMULAS: Functions = {
    **FUNCTIONS,
    "bdp_packets": frames.bdp_packets,
    "queue_delay_s": frames.queue_delay_s,
    "reno_utilisation": frames.reno_utilisation,
    "loss_limited_bps": frames.loss_limited_bps,
}
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0}
# A number or an expression in braces, and a unit.
_SPAN = re.compile(r"\s*(?:\{([^{}]*)\}|(\d+(?:\.\d+)?))\s*([a-z]+)\s*")


@dataclass(frozen=True)
class Names:
    """Values and functions by name, for expressions."""

    values: Mapping[str, Value]
    functions: Functions = field(default_factory=lambda: FORMULAS)

    def with_values(self, more: Mapping[str, Value]) -> Names:
        """These names and more."""
        return Names({**self.values, **more}, self.functions)

    def with_functions(self, more: Functions) -> Names:
        """These names, and more functions."""
        return Names(self.values, {**self.functions, **more})

    def value(self, place: Place) -> Value:
        """The value of an expression: a number or a word."""
        return place.parse(lambda text: expression.evaluated(text, self.values, self.functions))

    def number(self, place: Place) -> float:
        """The number that an expression has."""
        return place.parse(lambda text: expression.number(text, self.values, self.functions))

    def text(self, place: Place) -> str:
        """A text with its expressions computed."""
        return place.parse(self.filled)

    def filled(self, text: str) -> str:
        """The same of a text that has no place of its own, such as a key."""
        return expression.filled(text, self.values, self.functions)

    def whole(self, place: Place) -> int:
        """A whole number of at least one."""
        found = self.number(place)
        if found != int(found) or found < 1:
            place.refuse(f"must be a whole number of at least 1, and is {found:g}.")
        return int(found)

    def quantity(self, place: Place, parser: Callable[[str], T]) -> T:
        """A quantity with its unit, whose number may be an expression in braces."""
        filled = self.text(place)
        return place.parse(lambda _: parser(filled))

    def seconds(self, place: Place) -> float:
        """A length of time: `250 ms`, or `{duration / 2} s`."""
        found = _SPAN.fullmatch(place.text())
        if found is None or found[3] not in _SECONDS:
            place.refuse(
                f"must be a length of time such as 250 ms or '{{duration / 2}} s', and is "
                f"{place.text()!r}."
            )
        amount = float(found[2]) if found[2] else place.parse(lambda _: self._amount(found[1]))
        return amount * _SECONDS[found[3]]

    def _amount(self, text: str) -> float:
        return expression.number(text, self.values, self.functions)


def check_number(place: Place, names: Collection[str], functions: Functions = FORMULAS) -> None:
    """Refuses an expression that cannot be computed from these names."""
    place.parse(lambda text: expression.check(text, names, functions))


def check_text(place: Place, names: Collection[str], functions: Functions = FORMULAS) -> None:
    """The same of a text with expressions in braces."""
    place.parse(lambda text: expression.check_filled(text, names, functions))
