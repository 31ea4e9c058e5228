"""One line a student, for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from course.exercise import Exercise
from course.grading.records import Record, write_whole


def write(file: Path, exercise: Exercise, records: Sequence[Record]) -> None:
    """Name, points, the points of each case, and what was odd.

    The column `id` is the learning system's number of the student or the submission, by which it
    takes grades back.
    """
    cases = [case.name for case in exercise.cases]
    text = io.StringIO()
    sheet = csv.writer(text)
    sheet.writerow(["submission", "id", "student", "points", "out of", *cases, "remarks"])
    for each in records:
        points = [each.cases.get(name, 0) for name in cases]
        row = [each.name, each.lms_id, each.student, each.points, each.out_of, *points]
        sheet.writerow([harmless(str(cell)) for cell in (*row, " ".join(each.remarks))])
    write_whole(file, text.getvalue())


def harmless(text: str) -> str:
    """A spreadsheet computes what begins like this, and names are what students choose."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
