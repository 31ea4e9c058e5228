"""The table of a lab: the original, theory, measured. A column that is empty is left out.

Rows such as `buffer 72: throughput` and `buffer 36: throughput` are cells of one matrix, and are
shown as one: a line for each buffer, a column for each quantity.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from labs.definition import Row

SOURCES = ("measured", "other seeds", "the original", "theory")
# Fewer subjects than this are no matrix.
_SUBJECTS_MIN = 3


@dataclass(frozen=True)
class Matrix:
    """Rows that tell the same quantities of several subjects."""

    quantities: Sequence[str]
    # By subject, a row for each quantity.
    subjects: Sequence[tuple[str, Sequence[Row]]]

    def lines(self) -> list[list[str]]:
        """Head, then for each subject a line for each source that says something."""
        lines = [["", "", *self.quantities]]
        for subject, rows in self.subjects:
            for source in SOURCES:
                cells = [_cell(row, source) for row in rows]
                if any(cells):
                    lines.append([subject if source == SOURCES[0] else "", source, *cells])
        return lines


def _cell(row: Row, source: str) -> str:
    return {
        "measured": row.measured,
        "other seeds": row.other_seeds,
        "the original": row.original,
        "theory": row.theory,
    }[source]


def parts(rows: Sequence[Row]) -> tuple[list[Matrix], list[Row]]:
    """The matrices among the rows, and the rows that are in none."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        subject, colon, _ = row.what.partition(": ")
        groups.setdefault(subject if colon else row.what, []).append(row)
    shapes: dict[tuple[str, ...], list[str]] = {}
    for subject, group in groups.items():
        shapes.setdefault(tuple(_quantity(row) for row in group), []).append(subject)
    matrices = [
        Matrix(quantities, [(subject, groups[subject]) for subject in subjects])
        for quantities, subjects in shapes.items()
        if len(quantities) > 1 and len(subjects) >= _SUBJECTS_MIN
    ]
    inside = {subject for matrix in matrices for subject, _ in matrix.subjects}
    return matrices, [
        row for subject, group in groups.items() if subject not in inside for row in group
    ]


def _quantity(row: Row) -> str:
    return row.what.partition(": ")[2]


def columns(rows: Sequence[Row]) -> list[list[str]]:
    """Head and rows, without the columns of which no row has anything."""
    head = ["", "the original", "theory", "measured", "other seeds"]
    lines = [
        head,
        *([row.what, row.original, row.theory, row.measured, row.other_seeds] for row in rows),
    ]
    used = [0, *(index for index in range(1, len(head)) if any(line[index] for line in lines[1:]))]
    return [[line[index] for index in used] for line in lines]


def tables(rows: Sequence[Row]) -> list[list[list[str]]]:
    """Everything as tables: a head and its lines each."""
    matrices, single = parts(rows)
    return [*(matrix.lines() for matrix in matrices), *([columns(single)] if single else [])]


# ---- as text -------------------------------------------------------------------------------------


def markdown(rows: Sequence[Row]) -> str:
    """Aligned, so that the text itself is readable too."""
    return "\n\n".join(map(aligned, tables(rows)))


def aligned(table: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; the first line is its head."""
    widths = _widths(table)
    lines = [
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in table
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def text(rows: Sequence[Row], width: int = 79) -> str:
    """For a terminal: no line is wider than that."""
    return "\n\n".join(_text(table, width) for table in tables(rows))


def _text(table: Sequence[Sequence[str]], width: int) -> str:
    """Columns side by side, their cells in as many lines as they need."""
    widths = _narrowed(table, width)
    lines = []
    for row in table:
        cells = [textwrap.wrap(cell, size) or [""] for cell, size in zip(row, widths, strict=True)]
        for index in range(max(map(len, cells))):
            words = [cell[index] if index < len(cell) else "" for cell in cells]
            line = "  ".join(word.ljust(size) for word, size in zip(words, widths, strict=True))
            lines.append(line.rstrip())
    return "\n".join(lines)


def _narrowed(table: Sequence[Sequence[str]], width: int) -> list[int]:
    """Takes from the widest column, again and again, until all fit."""
    widths = _widths(table)
    while sum(widths) + 2 * (len(widths) - 1) > width and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return widths


def _widths(table: Sequence[Sequence[str]]) -> list[int]:
    return [max(len(line[column]) for line in table) for column in range(len(table[0]))]
