"""The page's requests, JSON in and JSON out.

own(student) -> a sentence with the student's numbers, or nothing
check({student, files, case}, tell) -> {points, outOf, summary}; `tell` receives each verdict
run({student, files, line}) -> {output, errors} of a command line
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from course import working
from course.exercise import Exercise, Work
from course.judge import Verdict, judge
from course.page.runner import PageRunner
from course.telling import Teller, summary
from course.tools.tracer import BIN

# The name of the page's exercise; `handout` writes it.
_NAME = Path(__file__).parents[1] / "exercise.txt"
_FOLDER = Path("/work")
_PROGRAMS = ("vitrine-sim", "vitrine-p4c")


def check(request: str, tell: Callable[[str], None]) -> str:
    """Judges the files as `vitrine check` does."""
    asked = json.loads(request)
    exercise = _exercise()
    folder = _written(exercise, asked)
    teller = Teller()
    case = asked.get("case")
    judgement = judge(
        exercise,
        folder,
        seed=working.student_of(folder),
        runner=PageRunner(),
        only=[case] if case else [],
        called=f"work/{exercise.name}",
        tell=lambda verdict: tell(json.dumps(_described(verdict, teller))),
        is_alive=lambda: True,
    )
    return json.dumps(
        {
            "points": judgement.points,
            "outOf": judgement.out_of,
            "summary": summary(judgement).splitlines()[0],
        }
    )


def own(student: str) -> str:
    """The personal numbers of a student, as a sentence; empty if the exercise has none."""
    exercise = _exercise()
    if exercise.own is None:
        return ""
    seed = working.name_in(student.encode())
    return exercise.own(Work(_FOLDER, _FOLDER, seed, PageRunner()))


def run(request: str) -> str:
    """Runs a line from a handout or a story: `vitrine-sim ...`, perhaps after a `printf`."""
    asked = json.loads(request)
    _written(_exercise(), asked)
    output = errors = ""
    try:
        commands = list(_commands(asked["line"]))
    except ValueError as error:
        return json.dumps({"output": "", "errors": f"This line cannot be read: {error}.\n"})
    for words in commands:
        # Stories write a file of entries like this: printf '%s\n' ENTRY... > FILE
        if words[0] == "printf" and words[-2:-1] == [">"]:
            Path(words[-1]).write_text("".join(f"{word}\n" for word in words[2:-2]))
            continue
        if Path(words[0]).name not in _PROGRAMS:
            errors += f"{words[0]}: the page runs {' and '.join(_PROGRAMS)}.\n"
            break
        done = PageRunner().run([str(BIN / Path(words[0]).name), *words[1:]])
        output += done.output
        errors += done.errors + (f"{done.why}\n" if done.why else "")
    return json.dumps({"output": output, "errors": errors})


def _commands(line: str) -> Iterator[list[str]]:
    """The commands of a line, without settings of environment variables."""
    words: list[str] = []
    split = shlex.shlex(line, posix=True, punctuation_chars=";>")
    split.whitespace_split = True
    for word in [*split, ";"]:
        if word != ";":
            words.append(word)
            continue
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            del words[0]
        if words:
            yield words
        words = []


def _written(exercise: Exercise, asked: Mapping[str, Any]) -> Path:
    """Writes the student's files into the folder that handouts name."""
    folder = _FOLDER / exercise.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in asked["files"].items():
        (folder / name).write_text(text)
    (folder / working.STUDENT).write_text(f"{asked['student']}\n")
    # Modules that an earlier check imported from there may have changed.
    for module in [name for name, each in sys.modules.items() if _is_of(each, folder)]:
        del sys.modules[module]
    # Paths in command lines are relative to the folder above work/.
    os.chdir(_FOLDER.parent)
    return folder


def _is_of(module: object, folder: Path) -> bool:
    return str(getattr(module, "__file__", None)).startswith(f"{folder}/")


def _described(verdict: Verdict, teller: Teller) -> dict[str, object]:
    return {
        "case": verdict.case.name,
        "title": verdict.case.title,
        "points": verdict.points,
        "outOf": verdict.case.points,
        "isMet": verdict.story is None,
        "counts": verdict.counts,
        "text": teller.tell(verdict),
        "again": verdict.story.again if verdict.story else "",
    }


def _exercise() -> Exercise:
    name = _NAME.read_text().strip()
    module = importlib.import_module(f"course.exercises.{name.replace('-', '_')}.exercise")
    found: Exercise = module.EXERCISE
    return found
