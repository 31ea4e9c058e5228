"""Gradescope's files: `results.json` of a submission, and the archive that makes it grade so."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from controller.toolchain import ROOT
from course.exercise import SOLUTIONS, Exercise
from course.exercises.control_plane import roads
from course.grading.grade import Graded
from course.grading.records import write_whole
from course.judge import Verdict
from course.telling import paragraphs, same_as, waiting, with_earlier
from course.working import NOBODY

# The kit's parts for grading; the tests stay at home, and so do the solutions, but for the peers: a
# submission runs in the jail, which reads nothing but that submission.
_PARTS = (
    *("controller", "topo", "apps", "labs", "insides", "course"),
    # The messages of the kit's own services.
    "vitrine",
    # Exercises without a program of their own use the kit's router.
    "p4src",
)
_REQUIREMENTS = "vm/requirements.txt"
# Of the pinned packages those that a check imports; the others are for tests, sweeps and figures.
_PACKAGES = (
    *("protobuf", "p4runtime", "grpcio", "numpy", "PyYAML"),
    # The modules that `labs` loads with its networks.
    *("pyarrow", "prometheus_client"),
)
# The router's own parts in Python: what students are to write.
EXAMPLES = ROOT / "insides" / "examples"
# A teacher's new exercise begins with these files.
_TEMPLATE = ROOT / "course" / "template"
# Routers of others, beside which these exercises are tried; see `roads.PEERS`.
_WITH_PEERS = ("control-plane", "capstone")
# Gradescope's own file about a submission, beside its folder.
METADATA = "submission_metadata.json"
# One file, which is each of the programs by its name.
_PROGRAMS = "build/bin/vitrine-programs"


def results(graded: Graded) -> dict[str, Any]:
    """The content of results.json."""
    tests = []
    for verdict, before in with_earlier(graded.judgement.verdicts):
        tests.append(
            {
                "name": f"{verdict.case.name}: {verdict.case.title}"
                + (f" ({verdict.remark})" if verdict.remark else ""),
                "score": verdict.points,
                "max_score": verdict.case.points,
                "status": "passed" if verdict.counts else "failed",
                "output": same_as(before) if before else _output(verdict),
                "visibility": "visible",
            }
        )
    return {
        "score": graded.judgement.points,
        "output": " ".join(graded.remarks),
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def compared(graded: Graded, metadata: Path) -> Graded:
    """With a remark if student.txt names nobody of those whom Gradescope knows as the authors.

    A student with another's name has the other's numbers, and no class is there to show it.
    """
    try:
        users = json.loads(metadata.read_text())["users"]
        names = [str(user["name"]) for user in users]
    except (OSError, ValueError, KeyError, TypeError):
        # It is graded by hand, or elsewhere.
        return graded
    said = set(graded.student.casefold().split())
    if graded.student == NOBODY or any(said & set(name.casefold().split()) for name in names):
        return graded
    remark = f"student.txt says {graded.student!r}, and Gradescope {', '.join(names)}."
    return replace(graded, remarks=(*graded.remarks, remark))


def _output(verdict: Verdict) -> str:
    if verdict.story is not None:
        return "\n".join(paragraphs(verdict.story))
    return waiting(verdict) if verdict.waits_for else ""


def archive(exercise: Exercise, file: Path, secret: str) -> None:
    """Writes the autograder of an exercise: set-up, start, and what of the kit they need."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, text in (("setup.sh", _SETUP), ("run_autograder", _RUN)):
            text = text.replace("EXERCISE", exercise.name)
            zipped.writestr(_executable(name), text)
        zipped.writestr("vitrine/secret", f"{secret}\n")
        zipped.writestr(f"vitrine/{_REQUIREMENTS}", requirements())
        for part in _PARTS:
            for path in _files(ROOT / part):
                zipped.write(path, f"vitrine/{path.relative_to(ROOT)}")
        if exercise.name in _WITH_PEERS:
            for path in roads.peers():
                zipped.write(path, f"vitrine/{path.relative_to(ROOT)}")
        programs = (ROOT / _PROGRAMS).read_bytes()
        zipped.writestr(_executable(f"vitrine/{_PROGRAMS}"), programs)


def requirements() -> str:
    """The packages that grading needs, in the kit's versions."""
    lines = (ROOT / _REQUIREMENTS).read_text().splitlines()
    kept = [line for line in lines if line.partition("==")[0] in _PACKAGES]
    assert len(kept) == len(_PACKAGES), "each has one line"
    return "\n".join(kept) + "\n"


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = (each for each in sorted(path.rglob("*")) if each.is_file())
    return [
        each
        for each in found
        if "__pycache__" not in each.parts
        and not each.is_relative_to(SOLUTIONS)
        and not each.is_relative_to(EXAMPLES)
        and not each.is_relative_to(_TEMPLATE)
    ]


def _executable(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o755 << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


_SETUP = """#!/usr/bin/env bash
# Runs once, when Gradescope makes the machine for this exercise.
set -euo pipefail
apt-get update
apt-get install -y python3 python3-venv
cd /autograder/source/vitrine
ln -sfn vitrine-programs build/bin/vitrine-p4c
ln -sfn vitrine-programs build/bin/vitrine-sim
# The system's own: an image may have another one in front, which venv cannot use.
/usr/bin/python3 -m venv build/venv
build/venv/bin/pip install -r vm/requirements.txt
packages=$(build/venv/bin/python -c 'import site; print(site.getsitepackages()[0])')
printf '%s\\n' "$PWD" > "$packages/vitrine.pth"
"""

_RUN = """#!/usr/bin/env bash
# Runs for each submission.
set -euo pipefail
cd /autograder/source/vitrine
build/venv/bin/python -m vitrine gradescope-run EXERCISE --secret "$(cat secret)" \\
    /autograder/submission /autograder/results/results.json
"""


def write_nothing(file: Path, why: str) -> None:
    """Writes a results.json that says why nothing was graded."""
    # Without a score: 0 would count.
    said = f"Nothing was graded, which is not your doing. Please show this to your teacher: {why}"
    write_whole(file, json.dumps({"output": said}, indent=1) + "\n")


def write(file: Path, graded: Graded) -> None:
    """Writes results.json."""
    write_whole(file, json.dumps(results(graded), indent=1) + "\n")
