"""Words, and bars and charts made of characters, as several parts of the labs show them."""

from __future__ import annotations

from typing import TextIO

# Empty to full in eighths, upward and to the right.
BLOCKS = " ▁▂▃▄▅▆▇█"
_BAR_BLOCKS = " ▏▎▍▌▋▊▉█"
# For terminals without Unicode.
PLAIN_BLOCKS = " ..::==##"


def capitalised(text: str) -> str:
    """As it stands at the beginning of a sentence; `str.capitalize` would lower the rest."""
    return text[:1].upper() + text[1:]


def plain(text: str) -> str:
    """A text without effects on a terminal."""
    return "".join(each if each.isprintable() or each == "\n" else "?" for each in text)


def blocks_of(output: TextIO) -> str:
    """The blocks that a terminal can show."""
    try:
        BLOCKS.encode(getattr(output, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return PLAIN_BLOCKS
    return BLOCKS


def column_cells(share: float, rows: int, blocks: str = BLOCKS) -> list[str]:
    """A column of `rows` characters, filled from below to `share` of its height."""
    eighths = round(max(0.0, min(1.0, share)) * rows * 8)
    return [blocks[max(0, min(8, eighths - row * 8))] for row in range(rows)]


def bar(share: float, width: int, blocks: str = BLOCKS) -> str:
    """A bar of `width` characters, filled from the left to `share`."""
    fills = _BAR_BLOCKS if blocks == BLOCKS else PLAIN_BLOCKS
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    return "".join(fills[max(0, min(8, eighths - cell * 8))] for cell in range(width))
