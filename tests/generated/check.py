"""One seed from beginning to end: grown, played, and, if it fails, made smaller and kept."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.generated import grow, play, shrink, tree

KEPT = play.ROOT / "out" / "generated"


@dataclass(frozen=True)
class Result:
    """The result of a seed."""

    seed: int
    packets: int
    failure: play.Failure | None = None
    kept: Path | None = None

    def told(self) -> str:
        """The failure for people: the mistake, its input, and how to see it again."""
        return (
            f"seed {self.seed}: {self.failure.text}\n"
            f"the program, made smaller, and its packets are in {self.kept}; again:\n"
            f"  build/venv/bin/python -m tests.generated --from {self.seed} --count 1"
        )


def check(seed: int, kept: Path = KEPT) -> Result:
    """Plays the program of a seed."""
    program = play.defined(grow.program(seed))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        failure = play.run(play.case(program), place)
        if failure is None:
            return Result(seed, len(program.packets))

        def fails(smaller: tree.Program) -> bool:
            try:
                made = play.case(play.defined(smaller))
            except Exception:  # noqa: BLE001 (what no longer hangs together is not smaller)
                return False
            again = play.run(made, place)
            return again is not None and again.kind == failure.kind

        small = play.defined(shrink.shrunk(program, fails))
    place = kept / str(seed)
    again = play.run(play.case(small), place)
    (place / "why.txt").write_text(again.text if again else failure.text, "utf-8")
    (place / "whole.p4").write_text(play.case(program).source, "utf-8")
    return Result(seed, len(program.packets), again or failure, place)
