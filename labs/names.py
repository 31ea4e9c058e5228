"""The names of labs, for who asks before anything is set up: `python3 -Es -m labs.names NAME`.

So this needs nothing but Python: a lab is known by its folder.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from labs.hint import meant

_FOLDER = Path(__file__).parent


def names() -> list[str]:
    """All labs that have a folder."""
    return sorted(file.parent.name.replace("_", "-") for file in _FOLDER.glob("*/lab.py"))


def refusal(name: str, known: Sequence[str]) -> str:
    """What is said of a lab that is none, and which was meant."""
    return f"there is no lab {name!r}: {meant(name, known)}"


def main(arguments: Sequence[str]) -> int:
    """The exit status: 1 if there is no such lab, which is said."""
    (name,) = arguments
    if name in names():
        return 0
    said = refusal(name, names())
    if not name:
        said = (
            f"which lab? Say vitrine run NAME; {meant(name, names())} vitrine labs tells of each."
        )
    print(f"vitrine: {said}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
