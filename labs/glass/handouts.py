"""Handouts of the labs, as a page shows them beside the view."""

from __future__ import annotations

from controller.toolchain import ROOT


def names() -> list[str]:
    """The labs that have one."""
    return sorted(
        each.parent.name.replace("_", "-") for each in (ROOT / "labs").glob("*/README.md")
    )


def text_of(name: str) -> bytes | None:
    """The handout of a lab; None: there is no such lab."""
    if name not in names():
        return None
    return (ROOT / "labs" / name.replace("-", "_") / "README.md").read_bytes()
