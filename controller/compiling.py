"""P4 sources to BMv2 JSON and P4Info by the kit's own compiler, where they have changed.

    stem = current(find("router"))          # p4src/programs/router.p4, as build/p4/router.json ...
    stem = current(find("~/my.p4"))         # any file; its includes may be <lib/...>, <control/...>

    /usr/bin/python3 -m controller.compiling    # all of p4src/programs; what `make build` does

A program is compiled again when its preprocessed text or the compiler has changed: so an edit of an
included file compiles what includes it and nothing else. A program with a mistake stops only those
who want it. The build runs this before there is any Python environment, so it uses nothing but the
standard library.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from controller.errors import ControllerError

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "p4src"
PROGRAMS = SOURCES / "programs"
COMPILER = ROOT / "build" / "bin" / "vitrine-p4c"
_OUTPUT = ROOT / "build" / "p4"
# A program of a user's own finds the kit's v1model.p4, and the kit's controls as <control/...>.
_INCLUDES = ("-I", str(SOURCES / "include"), "-I", str(SOURCES))
_DEADLINE_S = 300.0
SUFFIXES = (".json", ".p4info.txtpb")


class CompileError(ControllerError):
    """A program that is not there or does not compile; its text has the compiler's messages."""


def find(name: str, folder: Path | None = None) -> Path:
    """The source that a name means: one of p4src/programs, or a file, seen from `folder`."""
    if not name.endswith(".p4") and "/" not in name:
        source = PROGRAMS / f"{name}.p4"
        if not source.exists():
            there_are = ", ".join(sorted(each.stem for each in PROGRAMS.glob("*.p4")))
            raise CompileError(
                f"there is no program {name!r} in p4src/programs, where there are: {there_are}. "
                "A file of your own is named with its ending: my.p4."
            )
        return source
    source = Path(folder or Path.cwd(), Path(name).expanduser()).resolve()
    if not source.is_file():
        raise CompileError(f"there is no P4 program {source}.")
    return source


def current(source: Path, defines: Sequence[str] = (), includes: Sequence[Path] = ()) -> Path:
    """Where the compiled program lies, without its endings; it is compiled first if need be.

    `defines` are macros, as NAME=VALUE; `includes` are searched for included files last.
    """
    stem = stem_of(source, defines)
    folders = [option for folder in includes for option in ("-I", str(folder))]
    options = [*_INCLUDES, *folders, *(f"-D{each}" for each in defines)]
    if not os.access(COMPILER, os.X_OK):
        raise CompileError(f"there is no compiler at {COMPILER}: run `make build` first.")
    made_from = _made_from(source, options)
    stamp = stem.with_name(stem.name + ".made-from")
    files = [stem.with_name(stem.name + suffix) for suffix in SUFFIXES]
    if all(file.exists() for file in files) and _text(stamp) == made_from:
        return stem
    _make_folder(stem.parent)
    with tempfile.TemporaryDirectory(dir=stem.parent) as folder:
        made = [Path(folder, file.name) for file in files]
        _run([*options, "-o", str(made[0]), "--p4runtime-files", str(made[1])], source)
        beside = Path(folder, stamp.name)
        beside.write_text(made_from)
        # Moved into place whole, the stamp last: no reader sees half a program.
        for new, file in zip([*made, beside], [*files, stamp], strict=True):
            _give_to_owner(new)
            new.replace(file)
    return stem


def main() -> int:
    """Compiles the changed programs of p4src/programs. A mistake in one does not stop the
    others."""
    for source in sorted(PROGRAMS.glob("*.p4")):
        try:
            current(source)
        except CompileError as error:
            print(error, file=sys.stderr)
            name = source.relative_to(ROOT)
            print(
                f"[vitrine] {name} is left out until it compiles; all else works", file=sys.stderr
            )
    return 0 if all(_is_there(name) for name in ("router", "cable")) else 1


def _is_there(name: str) -> bool:
    """Whether what every network needs has been compiled at some time."""
    return (_OUTPUT / f"{name}.json").exists()


def stem_of(source: Path, defines: Sequence[str] = ()) -> Path:
    """Where the compiled program of a source belongs, without its endings."""
    if source.parent == PROGRAMS and not defines:
        return _OUTPUT / source.stem
    # Two files of one name in two folders are two programs, and so is one with other macros.
    digest = hashlib.sha256(" ".join([str(source), *defines]).encode()).hexdigest()[:8]
    return _OUTPUT / "own" / f"{source.stem}-{digest}"


def _made_from(source: Path, options: Sequence[str]) -> str:
    compiler = COMPILER.resolve().stat()
    text = _run([*options, "-E"], source)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{digest} {compiler.st_size} {compiler.st_mtime_ns}"


def _run(arguments: Sequence[str], source: Path) -> str:
    done = subprocess.run(
        [str(COMPILER), *arguments, str(source)],
        capture_output=True,
        text=True,
        check=False,
        timeout=_DEADLINE_S,
        # Messages name files as seen from here.
        cwd=ROOT,
    )
    if done.returncode != 0:
        raise CompileError(f"{source} does not compile:\n{done.stderr.strip()}")
    return done.stdout


def _text(file: Path) -> str | None:
    return file.read_text() if file.exists() else None


def _make_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _give_to_owner(folder)


def _give_to_owner(file: Path) -> None:
    """Files that root compiles for a network belong to the owner of the clone."""
    if os.geteuid() == 0:
        owner = ROOT.stat()
        os.chown(file, owner.st_uid, owner.st_gid)


if __name__ == "__main__":
    sys.exit(main())
