"""A handout's measurements: filled in from kept runs, never typed.

    <!-- measured: measured/2026-11-22-1541-default.json -->
    ...command, verdict, date, machine, table...
    <!-- end of measured -->

    With small buffers the flow got <!--= small_payload_bps -->415 Mb/s<!--/-->, and at ten times
    the rate <!--= rate-10gbit: small_payload_bps -->4.15 Gb/s<!--/-->.

A handout may show runs with several settings. A number in a sentence names what it is in the first
run's results.json, or in that of the run with the settings before the colon; `a / b` is how many
times b goes into a. The table of an experiment beside the lab (labs.experiment) stands between
marks of its own, and a sentence names its numbers by the experiment: `hidden-buffers: beyond_s`.
Each file is copied into the lab's folder, so that a test can compare.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from controller.toolchain import ROOT
from labs import catalogue, experiment
from labs.archive import Kept
from labs.definition import Lab
from labs.errors import LabError
from labs.machine import Machine
from labs.report import results, table
from labs.settings import Settings
from topo.units import format_rate

_PART = re.compile(r"<!-- measured: (\S+) -->\n(.*?)<!-- end of measured -->", re.DOTALL)
_EXPERIMENT = re.compile(r"<!-- experiment: (\S+) -->\n(.*?)<!-- end of experiment -->", re.DOTALL)
_NUMBER = re.compile(r"<!--= (.+?) -->(.*?)<!--/-->")


def fill(lab: type[Lab], kept: Kept) -> str:
    """Puts a kept run into the lab's handout; a sentence that says so."""
    if kept.results is None or not kept.is_complete:
        raise LabError(f"{kept.name} cannot stand in a handout: it {kept.verdict}.")
    refuse_changed_kit(kept.name, kept.results["machine"]["kit"])
    page, text = _page(lab)
    slug = Settings.from_document(kept.results["settings"]).slug()
    found = _place(text, slug)
    if found is None:
        raise LabError(
            f"{page.relative_to(ROOT)} shows no run {slug}. Where its table is to stand, write "
            "`<!-- measured: none -->` and, on the next line, `<!-- end of measured -->`."
        )
    folder = page.parent
    copied = folder / "measured" / f"{kept.folder.name}.json"
    filled = part(copied.relative_to(folder), kept.results)
    text = text[: found.start()] + filled + text[found.end() :]
    copied.parent.mkdir(exist_ok=True)
    shutil.copy(kept.folder / "results.json", copied)
    before = folder / found.group(1)
    try:
        page.write_text(with_numbers(text, folder))
    except LabError:
        if before != copied:
            copied.unlink()
        raise
    if before != copied:
        before.unlink(missing_ok=True)
    return f"labs/{lab.folder_name()}/README.md has the table of {kept.name}."


def _place(text: str, slug: str) -> re.Match[str] | None:
    """The run with the same settings, or else a place that is free."""
    places = list(_PART.finditer(text))
    same = [each for each in places if _slug(each[1]) == slug]
    free = [each for each in places if each[1] == "none"]
    return next(iter([*same, *free]), None)


def _slug(file: str) -> str:
    """The settings in the name of a kept run's file: `rate-1gbit` of 2026-11-22-1541-rate-1gbit."""
    return re.sub(r"^\d{4}-\d{2}-\d{2}-\d{4}-", "", Path(file).stem)


def fill_experiment(file: Path) -> str:
    """Puts what an experiment has left into its lab's handout; a sentence that says so."""
    try:
        content = json.loads(file.read_text())
        lab = catalogue.named(content["lab"])
    except OSError as error:
        raise LabError(f"{file} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise LabError(f"{file} is no file that an experiment has left.") from error
    refuse_changed_kit(str(file), content["machine"]["kit"])
    page, text = _page(lab)
    name = f"measured/{file.name}"
    if f"<!-- experiment: {name} -->" not in text:
        raise LabError(f"{page.relative_to(ROOT)} has no place for the experiment {name}.")

    def filled(found: re.Match[str]) -> str:
        return experiment_part(name, content) if found[1] == name else found[0]

    (page.parent / "measured").mkdir(exist_ok=True)
    shutil.copy(file, page.parent / name)
    page.write_text(with_numbers(_EXPERIMENT.sub(filled, text), page.parent, file.stem))
    return f"labs/{lab.folder_name()}/README.md has the table of {file.stem}."


def refuse_changed_kit(name: str, kit: str) -> None:
    """A handout's measurements must come from a published version of the kit."""
    if kit == "unknown" or kit.endswith("-dirty"):
        raise LabError(
            f"{name} cannot stand in a handout: it was measured with kit {kit}, which is no "
            "commit. Commit your changes, run the lab again, and give that run."
        )


def part(file: Path | str, kept: Mapping[str, Any]) -> str:
    """The part of a handout between its marks, marks included."""
    machine = Machine.from_document(kept["machine"])
    changed = Settings.from_document(kept["settings"]).words()
    words = " ".join(["vitrine run", str(kept["lab"]), *changed])
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


def experiment_part(file: str, content: Mapping[str, Any]) -> str:
    """The part of a handout that shows an experiment, marks included."""
    text = experiment.markdown(content)
    return f"<!-- experiment: {file} -->\n{text}\n<!-- end of experiment -->"


def with_numbers(text: str, folder: Path, only: str | None = None) -> str:
    """The handout in that folder with each number in its sentences as the kept runs have it.

    `only` leaves all numbers but those of one run or experiment as they are.
    """
    files = [found[1] for found in _PART.finditer(text) if found[1] != "none"]
    files += [found[1] for found in _EXPERIMENT.finditer(text) if (folder / found[1]).exists()]

    def filled(found: re.Match[str]) -> str:
        slug, colon, what = found[1].rpartition(": ")
        if only is not None and slug != only:
            return found[0]
        named = [file for file in files if not colon or _slug(file) == slug]
        if not named:
            raise LabError(f"{folder.name}/README.md shows no run {slug or 'yet'}: {found[1]}")
        numbers = json.loads((folder / named[0]).read_text()).get("numbers", {})
        return f"<!--= {found[1]} -->{number(what, numbers)}<!--/-->"

    return _NUMBER.sub(filled, text)


def number(what: str, numbers: Mapping[str, float]) -> str:
    """A number as a sentence has it, by the unit that ends its name: 415 Mb/s, 41 %, 18."""
    names = what.split(" / ")
    if missing := [name for name in names if name not in numbers]:
        raise LabError(f"the kept run has no number {missing[0]}: see numbers in its results.json.")
    value = numbers[names[0]]
    if len(names) == 2:
        return f"{value / numbers[names[1]]:.2g}"
    unit = what.rpartition("_")[2]
    if unit == "bps":
        return format_rate(value)
    if unit == "share":
        return f"{100 * value:.3g} %"
    if unit in ("bytes", "packets", "count"):
        return f"{value:,.0f}"
    word = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{word} {unit}" if unit in ("s", "ms") else word


def parts(lab: type[Lab]) -> list[tuple[str, str]]:
    """The kept runs in a handout: the file that each names, and the text with its marks."""
    return [(found.group(1), found.group(0)) for found in _PART.finditer(_page(lab)[1])]


def experiments(lab: type[Lab]) -> list[tuple[str, str]]:
    """The experiments in a handout: the file that each names, and the text with its marks."""
    return [(found.group(1), found.group(0)) for found in _EXPERIMENT.finditer(_page(lab)[1])]


def _page(lab: type[Lab]) -> tuple[Path, str]:
    page = ROOT / "labs" / lab.folder_name() / "README.md"
    return page, page.read_text()
