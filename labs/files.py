"""Files that are whole or as they were, also on a disk that is full.

A file that is written over in place is empty while there is no room for its new content. So text is
written beside and moved into place; and `Reserve` keeps the room for what must be said last.
"""

from __future__ import annotations

import os
from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    """Gives a file new content; if that fails, it has the one that it had."""
    beside = path.with_name(f"{path.name}.new")
    try:
        beside.write_text(text)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


class Reserve:
    """Room for a file that will be written when there may be no other room left."""

    def __init__(self, path: Path, size_bytes: int) -> None:
        """Takes this much room now, in a hidden file beside `path`."""
        self._path, self._size_bytes = path, size_bytes
        self._beside = path.with_name(f".{path.name}.reserve")
        # Blocks that are written are there; those of a file that was only made longer are not.
        self._beside.write_bytes(b" " * size_bytes)

    def become(self, text: str) -> None:
        """Lets the reserve be the file, with this content."""
        content = text.encode()
        if len(content) > self._size_bytes or not self._beside.exists():
            replace_text(self._path, text)
            return
        with self._beside.open("r+b") as file:
            file.write(content)
            file.truncate()
            os.fsync(file.fileno())
        self._beside.replace(self._path)

    def give_up(self) -> None:
        """The room is needed no more."""
        self._beside.unlink(missing_ok=True)
