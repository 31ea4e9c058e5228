"""The table of a lab: document, theory, measured."""

from __future__ import annotations

from collections.abc import Sequence

from labs.definition import Row

HEAD = ("", "document", "theory", "measured")


def cells(row: Row) -> tuple[str, str, str, str]:
    """A row in the order of the head."""
    return row.what, row.document, row.theory, row.measured


def markdown(rows: Sequence[Row]) -> str:
    """Aligned, so that the text itself is readable too."""
    table = [HEAD, *map(cells, rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(HEAD))]
    lines = [
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in table
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])
