"""Digests of random networks in virtual time by seed, and what the models of queues print."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from tests.oracles import rust
from tests.oracles.labs import flat
from tests.oracles.running import BIN, report, run
from tests.oracles.sections import Files, SectionError
from tests.oracles.sizes import Sizes

_SEEDS = 20
# Every built-in scheduler with every AQM, and every arbiter with each input stage. DualPI2 manages
# the two classes as a pair.
_QUEUES = (
    *("queue", "--seconds", "1", "--loads", "0.5,0.6", "--ecn=ect0,ect1"),
    *(
        "--scheduler",
        "strict,tree,drr,wfq,wrr",
        "--aqm",
        "none,codel,dualpi2,ecn_step:threshold=20,pie,red",
    ),
)
_ARBITERS = "islip:4,lqf,ocf,pim:4,random,round_robin,wavefront"
_FABRIC = ("fabric", "--slots", "2000", "--input", "none,fifo,voq", "--arbiter", _ARBITERS)


def record(sizes: Sizes) -> Files:
    return {
        "queues.txt": _numbers(_QUEUES),
        "fabrics.txt": _numbers(_FABRIC),
        "digests.txt": report(run(rust.made("digest"), _SEEDS)),
    }


def _numbers(words: Sequence[str]) -> Iterator[str]:
    """A line for each number of each run."""
    done = run(BIN / "vitrine-sim", *words)
    if done.status != 0:
        raise SectionError(done.output)
    for line in done.lines:
        yield from flat("", json.loads(line))
        yield ""
