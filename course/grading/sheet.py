"""One line a student, for a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from course.exercise import Exercise
from course.grading.grade import Graded


def write(file: Path, exercise: Exercise, graded: Sequence[Graded]) -> None:
    """Name, points, the points of each case, and what was odd."""
    cases = [case.name for case in exercise.cases]
    with file.open("w", newline="") as opened:
        sheet = csv.writer(opened)
        sheet.writerow(["submission", "student", "points", "out of", *cases, "remarks"])
        for each in graded:
            points = [verdict.points for verdict in each.judgement.verdicts]
            row = [each.name, each.student, each.judgement.points, each.judgement.out_of, *points]
            sheet.writerow([_harmless(str(cell)) for cell in (*row, " ".join(each.remarks))])


def _harmless(text: str) -> str:
    """A spreadsheet computes what begins like this, and names are what students choose."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text
