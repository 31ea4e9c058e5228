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
from course.process import Runner

JAIL = ROOT / "course" / "jail" / "__main__.py"


class JailedRunner(Runner):
    """Runs programs without rights, network, or a look at anything but what they are given.

    In a container that has no namespaces to give, `in_container` makes do with the other walls.
    """

    def __init__(self, seconds: float = 60.0, *, in_container: bool = False) -> None:
        super().__init__(seconds)
        self.in_container = in_container
        self._account: Path | None = None

    def with_account(self, file: Path, budget_s: float) -> JailedRunner:
        """One for a submission whose programs have so much processor time, all together."""
        runner = JailedRunner(self.seconds, in_container=self.in_container)
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
        for path in (program, *readable):
            command += ["--read", str(path.resolve())]
        for path in writable:
            command += ["--write", str(path.resolve())]
        return [*command, "--", str(program), *argv[1:]]

    def environment(self) -> Mapping[str, str]:
        """Nothing of the grader's own, whose secret may be in there."""
        return {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}

    def check(self) -> None:
        """Says what is missing where this machine cannot keep a program in."""
        done = self.run([sys.executable, "-c", "pass"])
        if done.status == EXIT_NO_WALL:
            raise CourseError(
                f"{done.errors.strip()}. Nothing was graded: what students hand in would run with "
                "all of your rights. UNSAFE=1 does so all the same."
            )
        if done.status != 0:
            raise CourseError(f"the jail does not work: {done.errors.strip()[-300:]}")
