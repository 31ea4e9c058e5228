"""The compiler and switch in use: ours, or the P4 project's where they are installed.

    toolchain = Toolchain.named("p4lang")          # `--toolchain p4lang`
    program, config = toolchain.compiled("router")

Both compile the same sources to the same two files, so everything behind them is the same too.
Either compiles a program when it is used and has changed.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from controller import compiling
from controller.compiling import ROOT, SOURCES
from controller.errors import ControllerError
from controller.p4info import P4Info

_COMPILE_DEADLINE_S = 300.0
# The driver comes with every installation of p4c; some put only the back end on the path.
_P4C_NAMES = ("p4c-bm2-ss", "p4c")
SIMPLE_SWITCH = "simple_switch_grpc"


class ToolchainError(ControllerError):
    """A toolchain that is unknown or not installed, or a program that it does not compile."""


class Toolchain(Enum):
    """A compiler and the switch that belongs to it."""

    VITRINE = "vitrine"
    P4LANG = "p4lang"

    @classmethod
    def named(cls, name: str | None) -> Toolchain:
        """The toolchain of that name; ours without one."""
        if not name:
            return cls.VITRINE
        try:
            return cls(name)
        except ValueError:
            names = ", ".join(each.value for each in cls)
            raise ToolchainError(f"--toolchain {name}: there are: {names}.") from None

    def missing(self) -> list[str]:
        """Which of its programs are not on the path."""
        if self is Toolchain.VITRINE:
            return []
        compiler = [] if _p4c() else [" or ".join(_P4C_NAMES)]
        return compiler + ([] if shutil.which(SIMPLE_SWITCH) else [SIMPLE_SWITCH])

    def check(self) -> None:
        """Raises if something of it is missing."""
        missing = self.missing()
        if missing:
            raise ToolchainError(
                f"--toolchain {self.value} needs {' and '.join(missing)} on the path: install the "
                "P4 project's packages (vm/README.md), or leave --toolchain out."
            )

    def compiled(
        self, program: str | Path, defines: Sequence[str] = (), includes: Sequence[Path] = ()
    ) -> tuple[P4Info, bytes]:
        """P4Info and BMv2 JSON of p4src/programs/NAME.p4, or of the source at a path.

        `defines` are macros, as NAME=VALUE, and `includes` folders; for our compiler only.
        """
        source = program if isinstance(program, Path) else compiling.find(program)
        if self is Toolchain.VITRINE:
            return _load(compiling.current(source, defines, includes))
        assert not defines and not includes, "no caller needs either with p4c"
        stem = ROOT / "build" / "p4lang" / source.stem
        if not _is_current(stem.with_suffix(".json"), source):
            self.check()
            compile_by_p4c(source, stem)
        return _load(stem)


def compile_by_p4c(source: Path, stem: Path) -> None:
    """Compiles with the P4 project's compiler to STEM.json and STEM.p4info.txtpb."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    command = [_p4c() or _P4C_NAMES[0], "-I", str(SOURCES / "include"), "-I", str(SOURCES)]
    info = str(stem.with_suffix(".p4info.txtpb"))
    if Path(command[0]).name == "p4c":
        # The driver takes a folder and names the JSON after the source.
        command += ["--target", "bmv2", "--arch", "v1model", "-o", str(stem.parent)]
    else:
        command += ["-o", str(stem.with_suffix(".json"))]
    done = subprocess.run(
        [*command, "--p4runtime-files", info, str(source)],
        capture_output=True,
        text=True,
        check=False,
        timeout=_COMPILE_DEADLINE_S,
    )
    if done.returncode != 0:
        raise ToolchainError(f"{command[0]} does not compile {source}: {done.stderr.strip()}")


def _p4c() -> str | None:
    return next(filter(None, map(shutil.which, _P4C_NAMES)), None)


def _is_current(compiled: Path, source: Path) -> bool:
    if not compiled.exists():
        return False
    made = compiled.stat().st_mtime
    return all(each.stat().st_mtime <= made for each in (source, *SOURCES.rglob("*.p4")))


def _load(stem: Path) -> tuple[P4Info, bytes]:
    info, config = (stem.with_name(stem.name + suffix) for suffix in (".p4info.txtpb", ".json"))
    return P4Info.load(info), config.read_bytes()
