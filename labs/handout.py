"""The table of a handout: filled in from a kept run, never typed.

    <!-- measured: measured/2026-11-22-1541-default.json -->
    ...date, machine, verdict, table...
    <!-- end of measured -->

The run's results.json is copied into the lab's folder, so that a test can compare.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from controller.toolchain import ROOT
from labs.archive import Kept
from labs.definition import Lab
from labs.errors import LabError
from labs.machine import Machine
from labs.report import results, table
from labs.settings import Settings

_PART = re.compile(r"<!-- measured: (\S+) -->\n(.*?)<!-- end of measured -->", re.DOTALL)


def fill(lab: Lab, kept: Kept) -> str:
    """Puts a kept run into the lab's handout; a sentence that says so."""
    if kept.results is None or not kept.is_complete:
        raise LabError(f"{kept.name} cannot stand in a handout: it {kept.verdict}.")
    folder = ROOT / "labs" / lab.folder_name()
    copied = folder / "measured" / f"{kept.folder.name}.json"
    copied.parent.mkdir(exist_ok=True)
    page = folder / "README.md"
    text = page.read_text()
    found = _PART.search(text)
    if found is None:
        raise LabError(f"{page.relative_to(ROOT)} has no place for what was measured.")
    shutil.copy(kept.folder / "results.json", copied)
    before = folder / found.group(1)
    filled = part(copied.relative_to(folder), kept.results)
    page.write_text(text[: found.start()] + filled + text[found.end() :])
    if before != copied:
        before.unlink(missing_ok=True)
    return f"labs/{lab.folder_name()}/README.md has the table of {kept.name}."


def part(file: Path, kept: Mapping[str, Any]) -> str:
    """The part of a handout between its marks, marks included."""
    machine = Machine.from_document(kept["machine"])
    changed = Settings.from_document(kept["settings"]).changed()
    words = " ".join(["make lab", f"LAB={kept['lab']}", *(f"{n}={w}" for n, w in changed.items())])
    assessment = results.assessment_of(kept)
    lines = [
        f"<!-- measured: {file} -->",
        f"`{words}`: {assessment.verdict}",
        f"{machine}.",
        *(f"The machine disturbed a run: {each}." for each in assessment.disturbances),
        "",
        table.markdown(assessment.rows),
        "<!-- end of measured -->",
    ]
    return "\n".join(lines)


def parts(lab: type[Lab]) -> list[tuple[str, str]]:
    """What stands in a handout: the file that it names, and the text with its marks."""
    text = (ROOT / "labs" / lab.folder_name() / "README.md").read_text()
    return [(found.group(1), found.group(0)) for found in _PART.finditer(text)]
