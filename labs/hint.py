"""The hint for an unknown name."""

from __future__ import annotations

import difflib
from collections.abc import Collection


def meant(name: str, known: Collection[str], otherwise: str = "there are: ") -> str:
    """The known name that is near to it, or behind `otherwise` all that are known."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else f"{otherwise}{', '.join(known)}."
