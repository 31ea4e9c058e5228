"""Compares two recorded sections: byte for byte, but instruction counts within one percent."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

# Files of this ending have lines of a name and a count.
COUNTS = ".counts"
TOLERANCE = 0.01
# Lines that are printed of each file that differs.
LINES_MAX = 40


def differences(old: Path, new: Path) -> list[str]:
    """One line for each difference, for people; none if both sections are the same."""
    if missing := [folder for folder in (old, new) if not folder.is_dir()]:
        return [f"not recorded: {folder}" for folder in missing]
    found = []
    for name in sorted(_files(old) | _files(new)):
        before, after = old / name, new / name
        if not before.exists() or not after.exists():
            found.append(f"{name}: only in {old if before.exists() else new}")
        elif name.endswith(COUNTS):
            found += _counts_that_differ(before, after)
        elif before.read_bytes() != after.read_bytes():
            found += _diff(name, _lines(before), _lines(after))
    return found


def _files(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines()


def _diff(name: str, before: Sequence[str], after: Sequence[str]) -> list[str]:
    changed = [
        line
        for line in difflib.unified_diff(before, after, n=0, lineterm="")
        if not line.startswith(("---", "+++", "@@"))
    ]
    if not changed:
        return [f"{name}: differs in its line ends"]
    more = [f"... {len(changed) - LINES_MAX} more lines"] if len(changed) > LINES_MAX else []
    return [f"{name}: {len(changed)} lines differ", *changed[:LINES_MAX], *more]


def _counts_that_differ(before: Path, after: Path) -> Iterator[str]:
    old, new = _counts(before), _counts(after)
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            yield f"{name}: only in {before if name in old else after}"
        elif abs(new[name] - old[name]) > TOLERANCE * old[name]:
            change = 100 * (new[name] - old[name]) / max(old[name], 1)
            yield f"{name}: {old[name]} instructions, now {new[name]} ({change:+.2f} %)"


def _counts(file: Path) -> dict[str, int]:
    pairs = (line.rsplit(maxsplit=1) for line in _lines(file))
    return {name: int(count) for name, count in pairs}
