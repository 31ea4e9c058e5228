"""Recordings of a check's networks, kept until they are wanted or no longer needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from course.story import Moment

if TYPE_CHECKING:
    from labs.glass.tape import Tape

# A page of a full tape has some 20 MB; most have less than one.
PAGES_BYTES_MAX = 64 << 20


class Films:
    """A page for each network that a story points at; with `keeps_all`, for every network."""

    def __init__(self, folder: Path, *, keeps_all: bool = False, draws: bool = False) -> None:
        """With `draws` stories get a picture beside the link."""
        self.folder = folder
        self.draws = draws
        self.keeps_all = keeps_all
        # Whether what networks tell is kept now.
        self.records = True
        self._pages_bytes = 0
        self._tapes: dict[str, Tape] = {}
        # The clocks of tapes when their networks came up; in virtual time nothing.
        self._zeros_s: dict[str, float] = {}

    def names(self) -> set[str]:
        """Of which networks there are tapes."""
        return set(self._tapes)

    def forget(self, films: set[str]) -> None:
        """These are no longer needed."""
        for film in films:
            del self._tapes[film]

    def add(self, film: str, tape: Tape, zero_s: float = 0.0) -> None:
        """A network has ended."""
        self._tapes[film], self._zeros_s[film] = tape, zero_s
        if self.keeps_all:
            tape.write(self.file(film))

    def file(self, film: str) -> Path:
        """Where the page of a network is, if there is one."""
        return self.folder / f"{film}.html"

    def picture(self, moment: Moment) -> str:
        """The queued packets around this moment, as SVG; empty if there were none."""
        if not self.draws:
            return ""
        from course import picture

        return picture.svg(self._tapes[moment.film], self._zeros_s[moment.film] + moment.at_s)

    def show(self, moment: Moment) -> str:
        """Writes the page, and gives the address that opens it at this moment; empty: no more fit.

        What a router told is a submission's doing, so the pages of one have a limit together.
        """
        file = self.file(moment.film)
        if self._pages_bytes > PAGES_BYTES_MAX:
            return ""
        self._tapes[moment.film].write(file)
        self._pages_bytes += file.stat().st_size
        at_s = self._zeros_s[moment.film] + moment.at_s
        return f"{self.file(moment.film).resolve().as_uri()}#at={at_s:.6f}"
