"""`vitrine new exercise NAME`: an exercise that can be checked, to be changed into another one."""

from __future__ import annotations

import textwrap
from pathlib import Path

import yaml

from controller import ownership
from course import catalogue
from course.errors import CourseError
from course.exercise import FOLDER, SOLUTIONS
from labs.names import new_folder

TEMPLATE = Path(__file__).parent / "template"
GAP = "        // GAP: send the packet back to where it came from; drop broadcasts.\n"


def write(name: str, folder: Path = FOLDER, solutions: Path = SOLUTIONS) -> str:
    """Writes exercise and solutions; what to do next."""
    if any(exercise.name == name for exercise in catalogue.EXERCISES):
        raise CourseError(f"there is an exercise {name} already: choose another name.")
    made = new_folder("an exercise", name, folder)
    solved = solutions / name
    if solved.exists():
        raise CourseError(f"{solved} exists: choose another name, or remove it.")
    program = f"{made.name}.p4"

    def filled(text: str) -> str:
        return text.replace("PROGRAM.p4", program).replace("NAME", name)

    for file in sorted((TEMPLATE / "exercise").rglob("*.*")):
        copy = made / filled(str(file.relative_to(TEMPLATE / "exercise")))
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(filled(file.read_text()))
    (made / "__init__.py").write_text('"""A mirror: its cases."""\n')
    start = (made / "start" / program).read_text()
    known = yaml.safe_load((TEMPLATE / "solutions.yaml").read_text())

    def solve(where: str, code: str) -> Path:
        place = solved / where
        place.mkdir(parents=True)
        (place / program).write_text(
            start.replace(GAP, textwrap.indent(code.strip(), " " * 8) + "\n")
        )
        return place

    solve("right", known["right"])
    for mistake, each in known["wrong"].items():
        refused = yaml.safe_dump({"why": each["why"], "by": each["by"]}, sort_keys=False)
        (solve(f"wrong/{mistake}", each["code"]) / "refused.yaml").write_text(refused)
    for idea, code in known["lazy"].items():
        solve(f"lazy/{idea}", code)
    (solved / "answers.md").write_text(f"# Answers\n\n{known['answers']}")
    for place in (made, solved):
        ownership.give_to_caller(place)
    return f"""course/exercises/{made.name} has a handout, the students' start and the check;
course/solutions/{name} has a right solution, five wrong ones and five lazy ones. Next:
  vitrine check {name} --folder course/solutions/{name}/right
  edit course/exercises/{made.name}/exercise.py; docs/new-exercise.md explains it
  build/venv/bin/python -m pytest tests/course -k {name}"""
