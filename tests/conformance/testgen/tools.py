"""The programs that make tests, those that are tested, and how long either may take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.finished import finished

ROOT = Path(__file__).resolve().parents[3]
# A path of a program is solved in well under a second, but some programs have no end of them.
GENERATING_S = 120
PLAYING_S = 60
# In small letters, what stands in the line of an output that says what is wrong.
_TELLING = ("error", "panicked", "unimplemented")


class ToolError(Exception):
    """A tool that does not do what it is for."""


@dataclass(frozen=True)
class Tools:
    """Where they are."""

    # p4testgen, p4smith and p4c-bm2-ss.
    oracle: Path
    # vitrine-p4c and vitrine-sim.
    ours: Path = ROOT / "build" / "bin"
    sources: Path = ROOT / "p4src"

    def tests(self, source: Path, folder: Path, *, most: int, seed: int) -> str | None:
        """Makes tests of a program, TEST_1.stf and so on; says why there are none, if so."""
        command = [self.oracle / "p4testgen", *("--target", "bmv2", "--arch", "v1model")]
        command += ["--std", "p4-16", "--test-backend", "STF", "--seed", seed, "--max-tests", most]
        # Paths that come to statements where none has been go first.
        command += ["--path-selection", "GREEDY_STATEMENT_SEARCH", "--track-coverage", "STATEMENTS"]
        # It knows externs by their parameters' names, which are those of its own v1model.p4.
        command += ["-I", self.sources, "--out-dir", folder, source]
        told = complaint(command, GENERATING_S)
        # Tests that it made before a timeout or an unsupported construct count.
        return None if any(folder.glob("*.stf")) else told or "no path gives a packet"

    def random_program(self, folder: Path, seed: int) -> Path:
        """A random program."""
        source = folder / f"smith-{seed}.p4"
        command = [self.oracle / "p4smith", *("--target", "bmv2", "--arch", "v1model")]
        told = complaint([*command, "--seed", seed, source], PLAYING_S)
        if told is not None:
            raise ToolError(f"p4smith: {told}")
        return source

    def refused_by_p4c(self, source: Path) -> str | None:
        """The error of p4c for a program, if any."""
        return complaint([self.oracle / "p4c-bm2-ss", "-o", "/dev/null", source], PLAYING_S)

    def compiled(self, source: Path, made: Path) -> str | None:
        """Compiles a program with our compiler; returns why not, if not."""
        command = [self.ours / "vitrine-p4c", "--Wdisable", "-I", self.sources / "include"]
        return complaint([*command, "-I", self.sources, "-o", made, source], PLAYING_S)

    def played(self, compiled: Path, test: Path) -> str | None:
        """Plays a test as machine code, then by the interpreter; says what is not as it should."""
        for mode in ((), ("--interpreted",)):
            command = [self.ours / "vitrine-sim", "stf", *mode, compiled, test]
            told = complaint(command, PLAYING_S)
            if told is not None:
                return f"{mode[0]} {told}" if mode else told
        return None


def complaint(command: Sequence[object], deadline_s: float) -> str | None:
    """The output of a failed command: its first line with an error, if it has one."""
    done = finished(command, deadline_s)
    if done.was_late:
        return f"{Path(str(command[0])).name} was not done after {deadline_s:.0f} s"
    if done.status == 0:
        return None
    lines = [line.strip() for line in done.lines if line.strip(" =")]
    telling = [line for line in lines if any(word in line.lower() for word in _TELLING)]
    return (telling or lines or [f"exit status {done.status}"])[0]
