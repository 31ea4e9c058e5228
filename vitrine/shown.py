"""Objects that a notebook shows by itself: pictures, tables, and the page of routers' insides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import matplotlib.figure
from matplotlib.axes import Axes

from labs.definition import Figure
from labs.report import drawing, html


@dataclass(frozen=True)
class Picture:
    """A figure of a report, as the last line of a cell."""

    figure: Figure

    @classmethod
    def of(cls, draw: Callable[[Axes], None], caption: str, height: float = 3.0) -> Picture:
        """A drawing in one pair of axes."""

        def onto(canvas: matplotlib.figure.Figure) -> None:
            draw(canvas.subplots())

        return cls(Figure("picture", caption, onto, height))

    def svg(self) -> str:
        """The picture, which can be enlarged as far as one likes."""
        with drawing.drawn(self.figure) as canvas:
            return drawing.svg(canvas).decode()

    def save(self, file: str | Path) -> None:
        """Writes it as SVG."""
        Path(file).write_text(self.svg())

    def _repr_html_(self) -> str:
        return (
            f"<figure>{self.svg()}<figcaption>{escape(self.figure.caption)}</figcaption></figure>"
        )


@dataclass(frozen=True)
class Table:
    """Lines with a head."""

    lines: Sequence[Sequence[str]]

    def __str__(self) -> str:
        widths = [max(len(line[column]) for line in self.lines) for column in range(self._columns)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in self.lines
        )

    @property
    def _columns(self) -> int:
        return len(self.lines[0])

    def _repr_html_(self) -> str:
        return html.table_of(self.lines)


@dataclass(frozen=True)
class Glass:
    """The page that plays what routers did, packet by packet, in a cell of the notebook."""

    page: str
    height_px: int = 720

    def save(self, file: str | Path) -> None:
        """Writes it as a page of its own."""
        Path(file).write_text(self.page)

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.page)}" style="width: 100%; height: {self.height_px}px; '
            'border: 0"></iframe>'
        )
