"""Writes the folder of an exercise for a class: a page to open from a web site or a disk.

    index.html   handout, editor and checks, with the packages that the checks import, vitrine-p4c,
                 vitrine-sim and networks
    python.js    Python (Pyodide), the same file for every exercise

It contains no solutions, no other exercises and no grading: only the modules that the checks of
this exercise import.
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

from controller import compiling
from controller.toolchain import ROOT
from course import commands
from course.errors import CourseError
from course.exercise import Exercise
from labs.glass import onefile

# vm/page.sh exercises builds them.
_MADE = ROOT / "build" / "page"
NETWORK, PROGRAMS, PYTHON = _MADE / "page.wasm", _MADE / "programs.wasm", _MADE / "pyodide"
PAGE, LIBRARY = "index.html", "python.js"
# The modules of each page, besides the checks of its exercise.
_BEGIN = ("course.page.requests", "course.page.network")
# Third-party packages in pure Python; complete, because they import some modules late.
_LIBRARIES = ("google.protobuf", "google.rpc", "p4", "yaml")
_TITLES = "Vitrine: {}"
# The worker's modules; each uses the exports of those before it.
_ENGINE = (
    "js/wire/engine.js",
    "js/exercise/programs.js",
    "js/exercise/python.js",
    "js/exercise/worker.js",
)
_EXPORTED = re.compile(r"^export (?:class|function|const) (\w+)", re.MULTILINE)
# The other exercises need processes, which a page does not have.
CAN = frozenset(
    {
        *("first-router", "voice-and-bulk", "head-of-line", "fair-queues", "own-aqm"),
        *("elephants", "address-translation", "spread-the-load"),
    }
)
# Modules that checks import late.
_LATE = {"voice-and-bulk": ("apps.programming",)}
# Imports the modules of a check and prints the files of the kit among them.
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
    """Raises if a page cannot run the checks of this exercise."""
    if exercise.name not in CAN:
        raise CourseError(
            f"{exercise.name} cannot be checked in a page; these can: {', '.join(sorted(CAN))}."
        )


def described(exercise: Exercise) -> dict[str, object]:
    """The data that the page shows before the first check."""
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
    """The worker's script: each module is a function in one classic script."""
    return "\n".join(_as_function(_text(onefile.PAGE / name)) for name in _ENGINE)


def _as_function(module: str) -> str:
    """A module as a function that returns its exports."""
    lines = [line for line in module.splitlines() if not line.startswith("import ")]
    names = ", ".join(_EXPORTED.findall(module))
    body = "\n".join(line.removeprefix("export ") for line in lines)
    return f"const {{ {names} }} = (() => {{\n{body}\nreturn {{ {names} }};\n}})();\n"


def kit(exercise: Exercise) -> bytes:
    """The packages that the checks import, as a zip."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:

        def add(name: str, content: bytes) -> None:
            # A fixed date: the same files give the same archive.
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
        if exercise.name in _LATE:
            source = compiling.find("router")
            add(str(source.relative_to(ROOT)), b"")
            stem = compiling.current(source)
            for suffix in compiling.SUFFIXES:
                file = stem.with_name(stem.name + suffix)
                add(str(file.relative_to(ROOT)), file.read_bytes())
        for program in ("vitrine-p4c", "vitrine-sim"):
            # Checks require that the files exist; the page runs its own modules instead.
            add(f"build/bin/{program}", b"")
    return archive.getvalue()


def _kits_files(exercise: Exercise) -> list[Path]:
    name = exercise.name.replace("-", "_")
    modules = (*_BEGIN, *_LATE.get(exercise.name, ()), f"course.exercises.{name}.exercise")
    ran = subprocess.run(
        [sys.executable, "-c", _IMPORTED, str(ROOT), *modules],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return sorted({Path(line) for line in ran.stdout.splitlines()})


def _library(name: str) -> Iterator[tuple[Path, Path]]:
    """The files of a package, each with the folder from which it is imported."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.submodule_search_locations, "the checks import it"
    (place,) = map(Path, spec.submodule_search_locations)
    for file in sorted(place.rglob("*.py")):
        yield place.parents[name.count(".")], file


def python() -> str:
    """python.js, which glass/js/exercise/checker.js loads."""
    parts = {
        "script": (PYTHON / "pyodide.js").read_bytes() + (PYTHON / "pyodide.asm.js").read_bytes(),
        "wasm": (PYTHON / "pyodide.asm.wasm").read_bytes(),
        "library": (PYTHON / "python_stdlib.zip").read_bytes(),
        # Without Pyodide's packages.
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
