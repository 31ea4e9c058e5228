"""The workflow by which GitHub Classroom checks an exercise with the kit's wheel.

One step a case, with the actions that Classroom's own editor of tests uses, so its list of
students shows points. It has no secret and students can change it: it is feedback, not a grade.
"""

from __future__ import annotations

import re
import shlex

from course.errors import CourseError
from course.exercise import Exercise

FILE = ".github/workflows/classroom.yml"
# Of a step. A check of a right solution takes seconds.
_MINUTES = 10


def workflow(exercise: Exercise, wheel: str) -> str:
    """The file's text; `wheel` is the address of a wheel, or its path in the repository."""
    if not re.fullmatch(r"[\w.:/@%+~-]+\.whl", wheel):
        raise CourseError(
            f"WHEEL={wheel!r} is no address of a wheel. Put the one that `make dist` writes where "
            "GitHub can read it: WHEEL=https://example.org/vitrine-...-manylinux_2_36_x86_64.whl"
        )
    lines = [
        f"# Checks {exercise.name} at every push. `vitrine classroom` of Vitrine writes this file.",
        "name: Autograding Tests",
        "on: [push, workflow_dispatch, repository_dispatch]",
        "permissions: {checks: write, actions: read, contents: read}",
        "jobs:",
        "  run-autograding-tests:",
        "    runs-on: ubuntu-24.04",
        "    if: github.actor != 'github-classroom[bot]'",
        "    steps:",
        "      - uses: actions/checkout@v4",
        "      - name: Install Vitrine",
        "        run: |",
        '          python3 -m venv "$RUNNER_TEMP/vitrine"',
        f'          "$RUNNER_TEMP/vitrine/bin/pip" install --quiet {shlex.quote(wheel)}',
        '          echo "$RUNNER_TEMP/vitrine/bin" >> "$GITHUB_PATH"',
        "      # Personal numbers follow from this name.",
        "      - name: Name the student",
        '        run: test -s student.txt || echo "${GITHUB_REPOSITORY##*/}" > student.txt',
    ]
    for case in exercise.cases:
        lines += [
            f"      - name: {case.name}",
            f"        id: {case.name}",
            "        uses: classroom-resources/autograding-command-grader@v1",
            "        with:",
            f"          test-name: {case.name}",
            # A case alone counts without those that it is behind, so they are checked first.
            "          command: "
            + " && ".join(
                f"vitrine check {exercise.name} --folder . --case {name}"
                for name in (*case.behind, case.name)
            ),
            f"          timeout: {_MINUTES}",
            f"          max-score: {case.points}",
        ]
    lines += [
        "      - name: Report points",
        "        if: always()",
        "        uses: classroom-resources/autograding-grading-reporter@v1",
        "        env:",
        *(
            f"          {case.name.upper()}_RESULTS: ${{{{ steps.{case.name}.outputs.result }}}}"
            for case in exercise.cases
        ),
        "        with:",
        f"          runners: {','.join(case.name for case in exercise.cases)}",
    ]
    return "\n".join(lines) + "\n"
