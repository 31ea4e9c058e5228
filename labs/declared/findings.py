"""The findings of a run: numbers, rows of the table, and bands."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from labs import congestion, expression
from labs.declared.names import FORMULAS, Names, check_number, check_text
from labs.definition import Band, Row
from labs.expression import Functions
from topo.document import Place

KEYS = frozenset({"numbers", "theory", "rows", "bands"})
_OF_BANDS = {"least", "most", "unit", "unjudged", "only_for"}


@dataclass
class Found:
    """The same, computed."""

    rows: list[Row] = field(default_factory=list)
    bands: list[Band] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class RowPart:
    """A row as the file has it; its name may have expressions in braces."""

    name: str
    place: Place
    cells: Mapping[str, Place]
    # The TCPs that its theory is about; empty: all.
    only_for: tuple[str, ...]

    def texts(self) -> list[Place]:
        """Its cells."""
        return list(self.cells.values())

    def row(self, names: Names) -> Row:
        """The row, computed."""
        original, theory, measured = (
            names.text(self.cells[cell]) if cell in self.cells else ""
            for cell in ("original", "theory", "measured")
        )
        if self.only_for and names.values["congestion"] not in self.only_for:
            theory = ""
        return Row(_name(self, names), original, theory, measured)


@dataclass(frozen=True)
class BandPart:
    """A band as the file has it."""

    name: str
    place: Place
    fields: Mapping[str, Place]
    # Not judged where the first is true, for the reason that the second gives.
    unjudged: tuple[Place, Place] | None
    # The TCPs that it is about; empty: all.
    only_for: tuple[str, ...]

    def band(self, names: Names, runs: tuple[str, ...]) -> Band:
        """The band, computed."""
        least, most = (
            names.number(self.fields[edge]) if edge in self.fields else None
            for edge in ("least", "most")
        )
        reason = ""
        if self.only_for:
            tcp = str(names.values["congestion"])
            reason = congestion.unjudged_but_for(self.only_for, tcp)
        if not reason and self.unjudged and names.number(self.unjudged[0]):
            reason = names.text(self.unjudged[1])
        return Band(
            _name(self, names),
            names.number(self.fields["measured"]),
            least,
            most,
            self.fields["unit"].text() if "unit" in self.fields else "",
            runs,
            unjudged=reason,
        )


@dataclass(frozen=True)
class Findings:
    """Numbers, rows and bands as the file has them."""

    numbers: Mapping[str, Place]
    # Computed from the numbers, and not kept with them.
    theory: Mapping[str, Place]
    rows: tuple[RowPart, ...]
    bands: tuple[BandPart, ...]

    def check(self, names: Collection[str], measures: Functions) -> None:
        """Refuses expressions with unknown names; only numbers may measure."""
        known = set(names)
        for name, place in (*self.numbers.items(), *self.theory.items()):
            if name in known:
                place.refuse("is the name of something else already: choose another name.")
            check_number(place, known, {**FORMULAS, **measures})
            known.add(name)
        for row in self.rows:
            _check_name(row, known)
            for cell in row.texts():
                check_text(cell, known)
            _check_only_for(row, known)
        for band in self.bands:
            _check_name(band, known)
            for key in ("measured", "least", "most"):
                if key in band.fields:
                    check_number(band.fields[key], known)
            if band.unjudged:
                check_number(band.unjudged[0], known)
                check_text(band.unjudged[1], known)
            _check_only_for(band, known)

    def expressions(self) -> list[Place]:
        """Every number that is measured."""
        return [*self.numbers.values(), *self.theory.values()]

    def found(self, names: Names, runs: tuple[str, ...], prefix: str = "") -> tuple[Found, Names]:
        """Everything computed, and the names with its numbers; `prefix` is for results.json."""
        found = Found()
        for name, place in self.numbers.items():
            value = names.number(place)
            names = names.with_values({name: value})
            found.numbers[f"{prefix}{name}"] = value
        for name, place in self.theory.items():
            names = names.with_values({name: names.number(place)})
        found.rows = [row.row(names) for row in self.rows]
        found.bands = [band.band(names, runs) for band in self.bands]
        return found, names


def read(fields: Mapping[str, Place]) -> Findings:
    """The findings of a run, or of all runs together."""
    numbers = fields["numbers"].entries() if "numbers" in fields else {}
    theory = fields["theory"].entries() if "theory" in fields else {}
    for name, place in (*numbers.items(), *theory.items()):
        if not name.isidentifier():
            place.refuse("is no name: use letters, digits and _, such as queue_mean_packets.")
    rows = fields["rows"].entries() if "rows" in fields else {}
    bands = fields["bands"].entries() if "bands" in fields else {}
    return Findings(
        numbers,
        theory,
        tuple(_row(name, place) for name, place in rows.items()),
        tuple(_band(name, place) for name, place in bands.items()),
    )


def _band(name: str, place: Place) -> BandPart:
    fields = place.fields(required={"measured"}, optional=_OF_BANDS)
    if "least" not in fields and "most" not in fields:
        place.refuse("needs 'least', 'most' or both: what is required.")
    unjudged = None
    if "unjudged" in fields:
        both = fields["unjudged"].fields(required={"if", "because"})
        unjudged = both["if"], both["because"]
    return BandPart(name, place, fields, unjudged, _only_for(fields))


def _row(name: str, place: Place) -> RowPart:
    fields = place.fields(required={"measured"}, optional={"original", "theory", "only_for"})
    cells = {cell: each for cell, each in fields.items() if cell != "only_for"}
    return RowPart(name, place, cells, _only_for(fields))


def _only_for(fields: Mapping[str, Place]) -> tuple[str, ...]:
    return tuple(each.text() for each in fields["only_for"].items()) if "only_for" in fields else ()


def _check_only_for(part: RowPart | BandPart, known: Collection[str]) -> None:
    if part.only_for and "congestion" not in known:
        part.place.refuse("has 'only_for', and this lab does not take the setting congestion.")


def _name(part: RowPart | BandPart, names: Names) -> str:
    return part.place.parse_text(part.name, names.filled)


def _check_name(part: RowPart | BandPart, known: Collection[str]) -> None:
    part.place.parse_text(part.name, lambda text: expression.check_filled(text, known, FORMULAS))
