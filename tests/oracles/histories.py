"""Simulated control-plane histories: a digest of the switch's messages in each."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.oracles import rust
from tests.oracles.running import each
from tests.oracles.sections import Files, SectionError
from tests.oracles.sizes import Sizes

_TEST = "simulated::every_history_is_one_that_the_model_allows"
# Histories of one process.
_PART = 500


def record(sizes: Sizes) -> Files:
    program = rust.test_program("agent")

    def part(first: int) -> list[str]:
        count = min(_PART, sizes.histories - first)
        with tempfile.TemporaryDirectory() as folder:
            digests = Path(folder, "digests")
            environment = {"FROM": str(first), "SEEDS": str(count), "DIGESTS": str(digests)}
            done = program.run("--exact", _TEST, environment=environment)
            if done.status != 0 or "1 passed" not in done.output:
                raise SectionError(f"histories from seed {first}:\n{done.output[-2000:]}")
            return digests.read_text("utf-8").splitlines()

    firsts = range(0, sizes.histories, _PART)
    parts = each(f"histories in parts of {_PART}", firsts, part, sizes.jobs)
    return {"digests.txt": [line for lines in parts for line in lines]}
