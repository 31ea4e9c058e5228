"""The figures of a sweep, as its file describes them.

shares:
  caption: The share of one of two flows.
  x: buffer                      # a parameter, or what is derived from them
  y: share_one                   # a number that is measured
  by: pair                       # an axis: a line for each of its choices
  label: "{one} against {other}"
  x_scale: log
  theory: {fluid model: 0.5 + 1 / (2 * buffer)}
  levels: {a fair share: 0.5}
buffer:
  x: flows
  least: {of: buffer, y: utilisation, reaches: [0.95, 0.99]}

The second kind draws, over x, the smallest `of` at which y reaches a level.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from labs import expression
from labs.expression import ExpressionError, Value, value_of
from labs.hint import meant
from topo.document import Place

# A figure's name is the name of its files. One that begins with a dot is hidden, or a folder.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}", re.ASCII)
_SCALES = {"linear": "linear", "log": "log"}
_OPTIONAL = {
    *("caption", "y", "by", "label", "least", "only", "theory", "levels"),
    *("x_label", "y_label", "x_scale", "y_scale", "y_range"),
}


@dataclass(frozen=True)
class Least:
    """The smallest `of` at which a number reaches a level."""

    of: str
    levels: tuple[float, ...]


@dataclass(frozen=True)
class FigurePlan:
    """One figure."""

    name: str
    caption: str
    x: str
    # The measured number.
    y: str
    # The axis whose choices are lines of their own; empty: one line.
    by: str = ""
    # The name of a line, with the parameters of its points in braces.
    label: str = ""
    # None: y itself is drawn.
    least: Least | None = None
    # Only points with these values.
    only: Mapping[str, Value] = field(default_factory=dict)
    # Expressions over a point's parameters, by name.
    theory: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, float] = field(default_factory=dict)
    x_label: str = ""
    y_label: str = ""
    x_scale: str = "linear"
    y_scale: str = "linear"
    y_range: tuple[float, float] | None = None


def read_figure(
    name: str,
    place: Place,
    axes: Sequence[str],
    names: Sequence[str],
    points: Sequence[Mapping[str, Value]],
    *,
    is_open: bool,
) -> FigurePlan:
    """A figure of the file.

    `names` are columns; with `is_open` more of them come with the rows. `points` are the parameters
    of each point, for which everything that needs no row is computed here: a mistake is found
    before anything is measured.
    """
    if not _NAME.fullmatch(name):
        place.refuse(
            "is called so, and its files would be: use up to 80 letters, digits, _ and -, such as "
            "loss-by-buffer."
        )
    fields = place.fields(required={"x"}, optional=_OPTIONAL)

    def text(key: str) -> str:
        return fields[key].text() if key in fields else ""

    def column(where: Place) -> str:
        column = _known(where, names, is_open=is_open)
        for values in points:
            if isinstance(word := values.get(column), str):
                where.refuse(f"is {column!r}, which must be a number to be drawn, and is {word!r}.")
        return column

    def check(where: Place, computed: Callable[[str, Mapping[str, Value]], object]) -> None:
        for values in points:
            try:
                computed(where.text(), values)
            except ExpressionError as error:
                raise where.error(f"{where.name}: {error}") from error

    drawn, least = fields, None
    if "least" in fields:
        drawn = fields["least"].fields(required={"of", "y", "reaches"})
        reaches = drawn["reaches"]
        every = reaches.items() if reaches.is_list() else [reaches]
        least = Least(column(drawn["of"]), tuple(map(_number, every)))
        if fields["x"].text() not in points[0]:
            fields["x"].refuse("must be a parameter, as 'least' is drawn over it.")
    elif "y" not in fields:
        place.refuse("lacks 'y', what is drawn over x; or 'least'.")
    for each in fields["theory"].entries().values() if "theory" in fields else ():
        check(each, expression.number)
    if "label" in fields:
        check(fields["label"], expression.filled)
    return FigurePlan(
        name=name,
        caption=text("caption"),
        x=column(fields["x"]),
        y=column(drawn["y"]),
        by=_known(fields["by"], axes, is_open=False) if "by" in fields else "",
        label=text("label"),
        least=least,
        only={
            key: each.parse(value_of)
            for key, each in (fields["only"].entries() if "only" in fields else {}).items()
        },
        theory={
            key: each.text()
            for key, each in (fields["theory"].entries() if "theory" in fields else {}).items()
        },
        levels={
            key: _number(each)
            for key, each in (fields["levels"].entries() if "levels" in fields else {}).items()
        },
        x_label=text("x_label"),
        y_label=text("y_label"),
        x_scale=fields["x_scale"].one_of(_SCALES) if "x_scale" in fields else "linear",
        y_scale=fields["y_scale"].one_of(_SCALES) if "y_scale" in fields else "linear",
        y_range=_range(fields["y_range"]) if "y_range" in fields else None,
    )


def _known(place: Place, names: Sequence[str], *, is_open: bool) -> str:
    name = place.text()
    if name not in names and not is_open:
        place.refuse(f"is {name!r}, which nothing is called: {meant(name, names)}")
    return name


def _number(place: Place) -> float:
    found = place.parse(value_of)
    if isinstance(found, str):
        place.refuse(f"must be a number, and is {found!r}.")
    return found


def _range(place: Place) -> tuple[float, float]:
    edges = [_number(each) for each in place.items()]
    if len(edges) != 2 or edges[0] >= edges[1]:
        place.refuse("must be two numbers, the smaller one first: [0, 1].")
    return edges[0], edges[1]
