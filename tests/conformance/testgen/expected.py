"""Programs whose tests by P4Testgen cannot pass, and why that is right."""

from __future__ import annotations

from fnmatch import fnmatch

# By group: pattern of the program's name, cause.
_PROGRAMS: dict[str, tuple[tuple[str, str], ...]] = {}


def cause(group: str, name: str) -> str | None:
    """Why tests of a program may fail, if they may."""
    patterns = _PROGRAMS.get(group, ())
    return next((why for pattern, why in patterns if fnmatch(name, pattern)), None)
