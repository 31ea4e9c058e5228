"""The labs from the command line, as the Makefile calls them.

python -m labs list             a line for each lab
python -m labs run NAME [--toolchain p4lang]
                                runs one; its settings come from the environment
python -m labs check            runs all, and fails if a band of any is not met
python -m labs page             opens the page that is one file
python -m labs results          lists the runs that are kept
python -m labs compare A B      draws two kept runs of one lab beside each other
python -m labs report RUN       draws the report of a kept run anew
python -m labs handout RUN      puts the table of a kept run into its lab's handout; or FILE.json,
                                that of an experiment
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from controller import reader
from controller.errors import ControllerError
from controller.toolchain import Toolchain
from labs import archive, catalogue, check, handout, worlds
from labs.archive import Kept
from labs.command import compare, conduct, conduct_both, redraw, side_of
from labs.definition import Lab
from labs.errors import LabError, SettingError
from labs.glass import beside, ready
from labs.hint import meant
from labs.settings import KNOWN, OTHERS, Settings, refuse_unknown
from labs.world import World
from topo import ending
from topo.errors import TopologyError

# Of WORLD and TOOLCHAIN: each in turn, and a report of both.
BOTH = "both"

# The commands that take their time.
RUNS = ("run", "check")
# What can stand behind the commands that run nothing.
TAKEN = {
    "list": (),
    "page": (),
    "results": ("LAB",),
    "compare": ("A", "B"),
    "report": ("RUN",),
    "handout": ("RUN", "NAME"),
}
USAGE = (
    "say what to do: list, run NAME, check, page, results, compare A B, report RUN, or handout RUN."
)


def main(arguments: list[str]) -> int:
    """Returns the exit status."""
    try:
        status = _do(arguments)
        # Here, and not where Python ends: there nobody could answer what goes wrong with it.
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        if not reader.is_gone():
            raise
        return _unread(arguments)
    except (ControllerError, LabError, TopologyError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        # 128 + SIGINT, as shells count it.
        print("\nvitrine: interrupted; the network is gone again.", file=sys.stderr)
        return 130


def _unread(arguments: list[str]) -> int:
    """Ends as other programs do whose reader is gone; of a run, the sentence that it has missed."""
    status = reader.let_go()
    if arguments[0] in RUNS:
        print(
            "vitrine: the program that read this has ended, and so the run ends too. "
            "`make results` lists what is kept.",
            file=sys.stderr,
        )
    return status


def _do(arguments: list[str]) -> int:
    if (taken := TAKEN.get(arguments[0] if arguments else "")) is not None:
        refuse_unknown(taken)
    match arguments:
        case ["list"]:
            _list()
        case ["page"]:
            ready.show()
        case ["run"] | ["run", ""]:
            _list()
            raise SettingError("which lab? Say make lab LAB=NAME with a name from this list.")
        case ["run", name]:
            _run(catalogue.named(name))
        case ["run", name, "--toolchain", toolchain]:
            os.environ["TOOLCHAIN"] = toolchain
            _run(catalogue.named(name))
        case ["check"]:
            _check()
        case ["results"]:
            _results()
        case ["compare", first, second]:
            _compare(first, second)
        case ["report", name]:
            kept = _named(name)
            redraw(lab_of(kept), kept, sys.stdout)
        case ["handout", name] if name.endswith(".json"):
            print(handout.fill_experiment(Path(name)))
        case ["handout", name]:
            kept = _named(name)
            print(handout.fill(catalogue.named(kept.lab), kept))
        case _:
            raise SettingError(USAGE)
    return 0


def _run(kind: type[Lab]) -> None:
    asked = os.environ.get("LAB") or kind.name
    if asked != kind.name:
        raise SettingError(f"make run runs {kind.name}: say make lab LAB={asked}.")
    chosen = {name: os.environ.get(name) for name in ("WORLD", "TOOLCHAIN")}
    for name, of in (("WORLD", World), ("TOOLCHAIN", Toolchain)):
        words = [*(each.value for each in of), BOTH]
        if (word := chosen[name]) and word not in words:
            hint = meant(word, words)
            raise SettingError(f"there is no {name.lower()} {word!r}: {hint}")
    if chosen == dict.fromkeys(chosen, BOTH):
        raise SettingError("WORLD=both and TOOLCHAIN=both: a report has two sides, leave one out.")
    if chosen["WORLD"] == BOTH:
        # Seeds are those of one side only.
        seeds = {World.LIVE: "", World.VIRTUAL: os.environ.get("SEEDS", "")}
        _run_both(kind, [{"WORLD": world.value, "SEEDS": seeds[world]} for world in World])
    elif chosen["TOOLCHAIN"] == BOTH:
        _run_both(kind, [{"TOOLCHAIN": toolchain.value} for toolchain in Toolchain])
    else:
        _conduct(kind)


def _conduct(kind: type[Lab]) -> None:
    lab = kind(Settings.from_environment(kind.takes))
    worlds.check(lab.settings, lab.place.topology)
    with beside.served(sys.stdout, opens=_opens()):
        conduct(lab, sys.stdout)


def _run_both(kind: type[Lab], differences: Sequence[Mapping[str, str]]) -> None:
    both = [Settings.from_environment(kind.takes, {**os.environ, **each}) for each in differences]
    for settings in both:
        worlds.check(settings, kind(settings).place.topology)
    with beside.served(sys.stdout, opens=_opens()):
        conduct_both(kind, both, sys.stdout)


def _opens() -> bool:
    """Whether the page is to be opened where there is a desktop: `make run` says so."""
    return bool(os.environ.get("VITRINE_OPEN"))


def _list() -> None:
    width = max(len(lab.name) for lab in catalogue.LABS)
    for lab in catalogue.LABS:
        settings = f"[{', '.join(sorted(lab.takes))}]" if lab.takes else ""
        lines = textwrap.wrap(lab.summary, 78 - width)
        print(f"{lab.name:{width}}  {lines[0]}")
        for line in (*lines[1:], settings):
            print(f"{'':{width}}  {line}".rstrip())


def _check() -> None:
    # Settings for all: how long they may take, and where. What else a lab takes is its own.
    for name in KNOWN:
        if os.environ.get(name):
            raise SettingError(f"{name}: all labs run with their own settings here. Leave it out.")
    settings = Settings.from_environment((), others=[each for each in OTHERS if each != "LAB"])
    if not os.environ.get("SEEDS"):
        settings = replace(settings, seeds=1)
    check.check(settings)


# ---- kept runs -----------------------------------------------------------------------------------


def _named(name: str) -> Kept:
    if not name:
        _results()
        raise SettingError("which run? Give a name from this list, or a lab's for its latest.")
    return archive.find(name)


def lab_of(kept: Kept) -> Lab:
    """The lab as it was set for a kept run."""
    if kept.results is None:
        raise LabError(
            f"{kept.name} {kept.verdict}: its settings are not known. What it measured lies in "
            f"{archive.shown(kept.folder)}/data."
        )
    settings = Settings.from_document(kept.results["settings"])
    return catalogue.named(kept.lab)(settings)


def _results() -> None:
    lab = os.environ.get("LAB")
    if lab:
        catalogue.named(lab)
    kept = [each for each in archive.all_kept() if lab in (None, "", each.lab)]
    for each in kept:
        print(f"{each.name}\n    {each.verdict}")
    if kept:
        print(
            "\nEach lies in out/; those that came to their end have a report.html there.\n"
            "make report RUN=<run> draws what there is of one that ended early,\n"
            "make compare A=<run> B=<run> compares two that came to their end."
        )
    else:
        of = f" of {lab}" if lab else ""
        print(f"No run{of} is kept yet: make {f'lab LAB={lab}' if lab else 'run'} makes the first.")


def _compare(first: str, second: str) -> None:
    if not (first and second):
        _results()
        raise SettingError("which two? Say make compare A=RUN B=RUN with names from this list.")
    sides = [side_of(lab_of(kept), kept) for kept in map(archive.find, (first, second))]
    if sides[0].lab.name != sides[1].lab.name:
        raise SettingError(
            f"{sides[0].kept.name} and {sides[1].kept.name} are of different labs: give two runs "
            "of one."
        )
    compare(sides, sys.stdout)


if __name__ == "__main__":
    # What was measured until then is kept, also while no network is up.
    with ending.as_exit():
        sys.exit(main(sys.argv[1:]))
