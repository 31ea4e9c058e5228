"""What happened in the networks of a check, kept until somebody wants to see it, or nobody does."""

from __future__ import annotations

from pathlib import Path

from course.story import Moment
from labs.glass.tape import Tape


class Films:
    """A page for each network that a story points at; with `keeps_all`, for every network."""

    def __init__(self, folder: Path, *, keeps_all: bool = False) -> None:
        self.folder = folder
        self._keeps_all = keeps_all
        self._tapes: dict[str, Tape] = {}

    def names(self) -> set[str]:
        """Of which networks there are tapes."""
        return set(self._tapes)

    def forget(self, films: set[str]) -> None:
        """Nobody will ask for these any more."""
        for film in films:
            del self._tapes[film]

    def add(self, film: str, tape: Tape) -> None:
        """A network has ended."""
        self._tapes[film] = tape
        if self._keeps_all:
            tape.write(self.file(film))

    def file(self, film: str) -> Path:
        """Where the page of a network is, if there is one."""
        return self.folder / f"{film}.html"

    def show(self, moment: Moment) -> str:
        """Writes the page, and gives the address that opens it at this moment."""
        self._tapes[moment.film].write(self.file(moment.film))
        return f"{self.file(moment.film).resolve().as_uri()}#at={moment.at_s:.6f}"
