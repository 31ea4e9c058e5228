"""The commands about labs: runs, lists, reports, comparisons."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from controller.addresses import Way
from controller.toolchain import Toolchain
from labs import archive, catalogue, check, worlds
from labs.archive import Kept
from labs.command import compare as compare_sides
from labs.command import conduct, conduct_both, reading, redraw, side_of
from labs.definition import Lab
from labs.errors import LabError, SettingError
from labs.hint import meant
from labs.settings import KNOWN, Settings
from labs.text import plain
from labs.world import World

# Of --world and --toolchain: each in turn, and a report of the two.
BOTH = "both"
Given = Mapping[str, Any]


def run(name: str, given: Given, page: AbstractContextManager[None]) -> None:
    """One lab with these options, once or in two ways."""
    kind = catalogue.named(name)
    chosen = {option: given.get(option) for option in ("world", "toolchain")}
    for option, of in (("world", World), ("toolchain", Toolchain)):
        words = [*(each.value for each in of), BOTH]
        if (word := chosen[option]) and word not in words:
            raise SettingError(f"--{option} {word}: {meant(word, words)}")
    if chosen == dict.fromkeys(chosen, BOTH):
        raise SettingError("--world both and --toolchain both: a report has two sides.")
    if chosen["world"] == BOTH:
        # Seeds are those of one side only.
        seeds = {World.LIVE: None, World.VIRTUAL: given.get("seeds")}
        differences = [{"world": each.value, "seeds": seeds[each]} for each in World]
    elif chosen["toolchain"] == BOTH:
        differences = [{"toolchain": each.value} for each in Toolchain]
    else:
        differences = [{}]
    sides = [Settings.chosen({**given, **each}, kind.takes) for each in differences]
    way = Way.named(given.get("grpc"))
    for settings in sides:
        worlds.check(settings, kind(settings).place.topology)
    with page:
        if len(sides) == 1:
            conduct(kind(sides[0]), sys.stdout, way=way)
        else:
            conduct_both(kind, sides, sys.stdout, way=way)


def run_all(given: Given) -> None:
    """Every lab with its own settings, and whether each band is met."""
    for option in ("lab", *KNOWN):
        if given.get(option):
            word = "a lab" if option == "lab" else f"--{option}"
            raise SettingError(f"--all runs every lab with its own settings: leave out {word}.")
    settings = Settings.chosen(given, ())
    if not given.get("seeds"):
        settings = replace(settings, seeds=1)
    check.check(settings, Way.named(given.get("grpc")))


def show_labs() -> None:
    """A few lines for each lab."""
    width = max(len(lab.name) for lab in catalogue.LABS)
    for lab in catalogue.LABS:
        options = " ".join(f"--{name}" for name in sorted(lab.takes))
        lines = textwrap.wrap(lab.summary, 78 - width)
        print(f"{lab.name:{width}}  {lines[0]}")
        for line in (*lines[1:], options):
            print(f"{'':{width}}  {line}".rstrip())
    for name, what in catalogue.BROKEN.items():
        print(f"vitrine: {name} cannot be run: {what}", file=sys.stderr)


# ---- kept runs -----------------------------------------------------------------------------------


def show_results(lab: str | None, *, as_json: bool = False) -> None:
    """The runs that are kept, with their verdicts."""
    if lab:
        catalogue.named(lab)
    kept = [each for each in archive.all_kept() if lab in (None, "", each.lab)]
    if as_json:
        for each in kept:
            fields = {"run": each.name, "lab": each.lab, "verdict": each.verdict}
            print(json.dumps({**fields, "folder": str(each.folder)}))
        return
    for each in kept:
        print(plain(f"{each.name}\n    {each.verdict}"))
    if kept:
        print(
            "\nEach lies in out/; a run that was completed has a report.html there.\n"
            "vitrine report RUN draws what there is of one that ended early,\n"
            "vitrine compare RUN RUN compares two complete runs."
        )
    else:
        of = f" of {lab}" if lab else ""
        print(f"No run{of} is kept yet: vitrine run{f' {lab}' if lab else ''} makes the first.")


def report(name: str) -> None:
    """The report of a kept run, drawn anew."""
    kept = archive.find(name)
    redraw(lab_of(kept), kept, sys.stdout)


def compare(first: str, second: str) -> None:
    """A report of two kept runs side by side."""
    sides = [side_of(lab_of(kept), kept) for kept in map(archive.find, (first, second))]
    if sides[0].lab.name != sides[1].lab.name:
        raise SettingError(
            f"{sides[0].kept.name} and {sides[1].kept.name} are of different labs: give two runs "
            "of one."
        )
    compare_sides(sides, sys.stdout)


def lab_of(kept: Kept) -> Lab:
    """The lab as it was set for a kept run."""
    if kept.results is None:
        raise LabError(
            f"{kept.name} {kept.verdict}: its settings are not known. What it measured lies in "
            f"{archive.shown(kept.folder)}/data."
        )
    with reading(kept):
        settings = Settings.from_document(kept.results["settings"])
        return catalogue.named(kept.lab)(settings)
