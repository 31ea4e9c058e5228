"""The command line that shows a moment of a check again."""

from __future__ import annotations


def in_glass(exercise: str, case: str, at_s: float) -> str:
    """The case once more, with a page that has every packet of it."""
    return (
        f"make check NAME={exercise} CASE={case} GLASS=1   "
        f"# then open out/course/{exercise}/{case}.html at {at_s:.3f} s"
    )
