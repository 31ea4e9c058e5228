"""A runner whose programs can do no harm: each in a jail of its own (`course/jail`)."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from controller.toolchain import ROOT
from course.errors import CourseError
from course.jail import EXIT_NO_WALL
from course.jail.watch import used_s
from course.process import PATHS, Runner
from course.wall_clock import CASE_S, SUBMISSION_S, WallClock

BIN = ROOT / "build" / "bin"
JAIL = ROOT / "course" / "jail" / "__main__.py"


class JailedRunner(Runner):
    """Runs programs without rights, network, or a look at anything but what they are given.

    In a container that has no namespaces to give, `in_container` makes do with the other walls.
    """

    def __init__(self, seconds: float = 60.0, *, in_container: bool = False) -> None:
        super().__init__(seconds)
        self.in_container = in_container
        self._account: Path | None = None
        self._flag: Path | None = None

    def with_account(self, file: Path, budget_s: float) -> JailedRunner:
        """A runner for a submission whose programs share a budget of processor time."""
        runner = JailedRunner(self.seconds, in_container=self.in_container)
        runner._flag = file.with_name(f"{file.name}.late")
        runner._flag.touch()
        runner.clock = WallClock(CASE_S, SUBMISSION_S, flag=runner._flag)
        runner._account, runner.budget_s = file, budget_s
        return runner

    def used_s(self) -> float:
        """The processor time that its programs have used."""
        account = self._account
        return used_s(account.read_bytes()) if account and account.exists() else 0.0

    def command(
        self, argv: Sequence[str], readable: Sequence[Path], writable: Sequence[Path] = ()
    ) -> list[str]:
        """The command line of the jail around `argv`."""
        # By its own name: one file is several programs, and Python finds its packages by it.
        program = Path(shutil.which(argv[0]) or argv[0]).absolute()
        command = [sys.executable, str(JAIL)]
        if self.in_container:
            command += ["--in-container"]
        if self._account:
            command += ["--account", str(self._account), "--account-s", str(self.budget_s)]
        # An installed program's name may be a line of shell, which starts the one file beside it.
        beside = [program.with_name("vitrine-programs")] if program.is_relative_to(BIN) else []
        for path in (program, *beside, *readable):
            command += ["--read", str(path.resolve())]
        if self._flag:
            # A class of a network is started by the network, which alone would end it.
            command += ["--ends-with", str(self._flag)]
        for path in writable:
            command += ["--write", str(path.resolve())]
        return [*command, "--", str(program), *argv[1:]]

    def environment(self) -> Mapping[str, str]:
        """Nothing of the grader's own, whose secret may be in there."""
        return {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", **PATHS}

    def check(self) -> None:
        """Says what is missing where this machine cannot keep a program in."""
        done = self.run([sys.executable, "-c", "pass"])
        if done.status == EXIT_NO_WALL:
            raise CourseError(
                f"{done.errors.strip()}. Nothing was graded: what students hand in would run with "
                "all of your rights. --unsafe grades without a sandbox."
            )
        if done.status != 0:
            raise CourseError(f"the jail does not work: {done.errors.strip()[-300:]}")
