"""Writes the folder of an exercise for a class: a page to open from a web site or a disk.

    index.html   handout, editor and checks; with it go the kit's packages that the checks import,
                 vitrine-p4c, vitrine-sim and networks
    python.js    Python (Pyodide), the same file for every exercise

Solutions, other exercises and grading are not in it: the packages are those that the checks of this
exercise import, and nothing else.
"""

from __future__ import annotations

import base64
import gzip
import importlib.util
import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from controller.toolchain import ROOT
from course import commands
from course.errors import CourseError
from course.exercise import Exercise
from labs.glass import onefile

# As vm/page.sh leaves them.
_MADE = ROOT / "build" / "page"
NETWORK, PROGRAMS, PYTHON = _MADE / "page.wasm", _MADE / "programs.wasm", _MADE / "pyodide"
PAGE, LIBRARY = "index.html", "python.js"
# Everything that a page has beside the exercise's own checks.
_BEGIN = ("course.page.desk", "course.page.network")
# Of others: written in Python, and whole, because they import as they go.
_LIBRARIES = ("google.protobuf", "google.rpc", "p4", "yaml")
_TITLES = "Vitrine: {}"
# The worker's own texts; each uses what those before it export.
_ENGINE = (
    "js/wire/engine.js",
    "js/exercise/programs.js",
    "js/exercise/python.js",
    "js/exercise/worker.js",
)
_EXPORTED = re.compile(r"^export (?:class|function|const) (\w+)", re.MULTILINE)
# Which exercises a page can check: what the others need is not in it yet.
CAN = frozenset({"first-router", "fair-queues", "head-of-line"})
# Imports what a check imports, and prints which files of the kit those are.
_IMPORTED = """
import importlib, sys, types
sys.modules["vitrine_page"] = types.ModuleType("vitrine_page")
for name in sys.argv[2:]:
    importlib.import_module(name)
root = sys.argv[1]
for module in list(sys.modules.values()):
    file = getattr(module, "__file__", None) or ""
    if file.startswith(root + "/") and not file.startswith(root + "/build/"):
        print(file)
"""


def write(exercise: Exercise, folder: Path) -> None:
    """Writes index.html and python.js into a folder."""
    refuse_others(exercise)
    for file in (NETWORK, PROGRAMS, PYTHON):
        if not file.exists():
            raise CourseError(
                f"there is no {file}: in a clone of the kit `vm/page.sh exercises` makes it."
            )
    folder.mkdir(parents=True, exist_ok=True)
    page = onefile.document(
        "js/exercise/main.js",
        _TITLES.format(exercise.title),
        {
            "exercise": json.dumps(described(exercise)).encode(),
            "engine": engine().encode(),
            "kit": kit(exercise),
            "programs": PROGRAMS.read_bytes(),
            "network": NETWORK.read_bytes(),
        },
        styles=(*onefile.STYLES, "alone.css", "exercise.css"),
        policy=onefile.WITH_PYTHON,
    )
    (folder / PAGE).write_text(page)
    (folder / LIBRARY).write_text(python())


def refuse_others(exercise: Exercise) -> None:
    """Raises for an exercise whose checks need more than a page has."""
    if exercise.name not in CAN:
        raise CourseError(
            f"{exercise.name} cannot be checked in a page yet; these can: {', '.join(sorted(CAN))}."
        )


def described(exercise: Exercise) -> dict[str, object]:
    """What the page shows before anything is checked."""
    return {
        "name": exercise.name,
        "title": exercise.title,
        "handout": commands.shown(_text(exercise.folder / "README.md"), installed=True),
        "files": {
            name: commands.shown(_text(exercise.start / name), installed=True)
            for name in exercise.files
        },
        "cases": [
            {"name": case.name, "title": case.title, "points": case.points}
            for case in exercise.cases
        ],
    }


def engine() -> str:
    """The worker's script: the modules as functions of a script that is no module."""
    return "\n".join(_as_function(_text(onefile.PAGE / name)) for name in _ENGINE)


def _as_function(module: str) -> str:
    """A module that keeps its names to itself but for those that it exports."""
    lines = [line for line in module.splitlines() if not line.startswith("import ")]
    names = ", ".join(_EXPORTED.findall(module))
    body = "\n".join(line.removeprefix("export ") for line in lines)
    return f"const {{ {names} }} = (() => {{\n{body}\nreturn {{ {names} }};\n}})();\n"


def kit(exercise: Exercise) -> bytes:
    """The packages that the checks import, as a zip."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:

        def add(name: str, content: bytes) -> None:
            # The same files make the same archive.
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(info, content)

        for file in _kits_files(exercise):
            add(str(file.relative_to(ROOT)), file.read_bytes())
        for name in _LIBRARIES:
            for base, file in _library(name):
                add(str(file.relative_to(base)), file.read_bytes())
        add("grpc.py", b"from course.page.channel import Call, Channel, RpcError, StatusCode\n")
        add("course/exercise.txt", exercise.name.encode())
        for program in ("vitrine-p4c", "vitrine-sim"):
            # Checks look whether they are there; the page runs them.
            add(f"build/bin/{program}", b"")
    return archive.getvalue()


def _kits_files(exercise: Exercise) -> list[Path]:
    name = exercise.name.replace("-", "_")
    modules = (*_BEGIN, f"course.exercises.{name}.exercise")
    ran = subprocess.run(
        [sys.executable, "-c", _IMPORTED, str(ROOT), *modules],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return sorted({Path(line) for line in ran.stdout.splitlines()})


def _library(name: str) -> Iterator[tuple[Path, Path]]:
    """The files of a package, each with the folder in which it is found."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.submodule_search_locations, "the checks import it"
    (place,) = map(Path, spec.submodule_search_locations)
    for file in sorted(place.rglob("*.py")):
        yield place.parents[name.count(".")], file


def python() -> str:
    """The script that brings Python: see glass/js/exercise/checker.js."""
    parts = {
        "script": (PYTHON / "pyodide.js").read_bytes() + (PYTHON / "pyodide.asm.js").read_bytes(),
        "wasm": (PYTHON / "pyodide.asm.wasm").read_bytes(),
        "library": (PYTHON / "python_stdlib.zip").read_bytes(),
        # No package of Pyodide's own goes along.
        "lock": json.dumps(
            {**json.loads((PYTHON / "pyodide-lock.json").read_bytes()), "packages": {}}
        ).encode(),
    }
    packed = {
        name: base64.b64encode(gzip.compress(part, 9, mtime=0)).decode()
        for name, part in parts.items()
    }
    notice = "/* Pyodide, Mozilla Public License 2.0; Python, PSF License: see their web sites. */"
    return f"{notice}\nvitrinePython({json.dumps(packed)});\n"


def _text(file: Path) -> str:
    return file.read_text()
