"""The kit as a wheel: `wheel.py BINARIES ARCHITECTURE GLIBC STAMP FOLDER`.

What it installs is the kit's folder as it is, without tests and sources of the switch, as
`vitrine_kit`, and a file of paths that makes its packages importable. So every part finds every
other where it is in a clone, and nothing has to know that it was installed. The scripts are the
programs' names and the command: `vitrine run bufferbloat`, `vitrine check fair-queues`.

It has what networks in virtual time need; live ones need Linux's own tools and a clone.
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KIT = "vitrine_kit"
PARTS = (
    *("insides", "controller", "topo", "apps", "labs", "vitrine", "course/exercises"),
    *("guests", "glass", "notebooks", "p4src", "docs", "LICENSE", "README.md"),
)
# The compiler's output for the kit's own programs; folders there have other people's.
COMPILED = "build/p4"
# Of the course everything but the solutions.
COURSE = "course"
# The solutions of exercises: arbiters, schedulers and congestion controls of the kit in Python.
ANSWERS = "insides/examples"
# The page that is one file, where it was made.
PAGE = "out/vitrine.html"
PROGRAMS = ("vitrine-p4c", "vitrine-sim", "vitrine-switch")
# The packages behind this line of vm/requirements.txt are for developers of the kit only.
DEVELOPERS = "# ---- From here on only for those who change the kit"
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}

# The command.
_COMMAND = """#!python
import os
import sys

os.environ.setdefault("VITRINE_RESULTS", os.path.join(os.getcwd(), "out"))
os.environ.setdefault("VITRINE_WORK", os.path.join(os.getcwd(), "work"))
os.execv(sys.executable, [sys.executable, "-m", "vitrine", *sys.argv[1:]])
"""
# A wheel has no links, so the names of the one file are lines of shell.
_NAME = """#!/bin/sh
exec "${{0%/*}}/vitrine-programs" {program} "$@"
"""
_PROGRAM = """#!python
import os
import sys

import {kit}

program = os.path.join(os.path.dirname({kit}.__file__), "build", "bin", "vitrine-programs")
os.execv(program, ["{program}", *sys.argv[1:]])
"""


def main() -> int:
    """Writes the wheel."""
    binaries, architecture, glibc, stamp, folder = sys.argv[1:]
    # Python 3.10 reads no TOML by itself; these are lines of text.
    project = dict(re.findall(r'^([a-z-]+) = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.M))
    version = project["version"]
    tag = f"py3-none-manylinux_{glibc.replace('.', '_')}_{MACHINES[architecture]}"
    wheel = _Wheel(Path(folder) / f"vitrine-{version}-{tag}.whl", int(stamp))
    info = f"vitrine-{version}.dist-info"
    with wheel:
        for path in files():
            wheel.add(f"{KIT}/{path.relative_to(ROOT)}", path.read_bytes())
        one = (Path(binaries) / "vitrine").read_bytes()
        wheel.add(f"{KIT}/build/bin/vitrine-programs", one, executable=True)
        for program in PROGRAMS:
            name = f"{KIT}/build/bin/{program}"
            wheel.add(name, _NAME.format(program=program), executable=True)
            script = _PROGRAM.format(kit=KIT, program=program)
            wheel.add(f"vitrine-{version}.data/scripts/{program}", script, executable=True)
        wheel.add(f"vitrine-{version}.data/scripts/vitrine", _COMMAND, executable=True)
        wheel.add(f"{KIT}/__init__.py", '"""The kit\'s folder; its packages are importable."""\n')
        wheel.add(f"{KIT}.pth", f"{KIT}\n")
        wheel.add(f"{info}/METADATA", metadata(project))
        wheel.add(
            f"{info}/WHEEL",
            f"Wheel-Version: 1.0\nGenerator: vitrine\nRoot-Is-Purelib: false\nTag: {tag}\n",
        )
        wheel.add(f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
        wheel.close_with_record(f"{info}/RECORD")
    return 0


def files() -> Iterator[Path]:
    """The files of the clone that go into it."""
    own = [path for path in sorted((ROOT / COURSE).iterdir()) if path.name not in ("solutions", "template")]
    page = [ROOT / PAGE] if (ROOT / PAGE).exists() else []
    seen = set()
    compiled = [path for path in sorted((ROOT / COMPILED).iterdir()) if path.is_file()]
    for part in [*(ROOT / part for part in PARTS), *own, *compiled, *page]:
        for path in [part] if part.is_file() else sorted(part.rglob("*")):
            if path.is_relative_to(ROOT / ANSWERS):
                continue
            if path.is_file() and "__pycache__" not in path.parts and path not in seen:
                seen.add(path)
                yield path


def metadata(project: dict[str, str]) -> str:
    """pip's metadata."""
    text, behind, _ = (ROOT / "vm" / "requirements.txt").read_text().partition(DEVELOPERS)
    assert behind, "the line is there"
    pins = [line.strip() for line in text.splitlines() if line and not line.startswith("#")]
    head = [
        "Metadata-Version: 2.1",
        "Name: vitrine",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        "License: Apache-2.0",
        f"Requires-Python: {project['requires-python']}",
        "Description-Content-Type: text/markdown",
        *(f"Requires-Dist: {pin}" for pin in pins),
    ]
    return "\n".join(head) + "\n\n" + (ROOT / "README.md").read_text()


class _Wheel:
    """A zip file that remembers what is in it; the same content makes the same bytes."""

    def __init__(self, file: Path, stamp: int) -> None:
        self._file = file
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        # A zip file knows no year before 1980.
        self._date = time.gmtime(max(stamp, 315_532_800))[:6]
        self._record: list[str] = []

    def __enter__(self) -> _Wheel:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._zip.close()
        if kind is not None:
            self._file.unlink()

    def add(self, name: str, content: bytes | str, *, executable: bool = False) -> None:
        content = content.encode() if isinstance(content, str) else content
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(content)}")
        info = zipfile.ZipInfo(name, self._date)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (0o100755 if executable else 0o100644) << 16
        self._zip.writestr(info, content)

    def close_with_record(self, name: str) -> None:
        self._record.append(f"{name},,")
        info = zipfile.ZipInfo(name, self._date)
        info.external_attr = 0o100644 << 16
        self._zip.writestr(info, "\n".join(self._record) + "\n")


if __name__ == "__main__":
    sys.exit(main())
