"""Instructions of the packet path as callgrind counts them; they alone may vary, by one percent.

The subject is the benchmark `world`: TCP through two routers with the kit's router.p4, in virtual
time. It runs for a short and a long time, native and interpreted. The difference of both times is
what packets cost, apart from starting, compiling and loading.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.oracles import rust
from tests.oracles.running import each, run
from tests.oracles.sections import Files, SectionError
from tests.oracles.sizes import Sizes

_SUBJECTS = {"native": (), "interpreted": ("--interpreted",)}
_NETWORK = ("--flows", "2", "--mbps", "10")
# Virtual time.
_SHORT_S, _LONG_S = 1, 3
_COLLECTED = re.compile(r"^==\d+== Collected : (\d+)$", re.MULTILINE)


def record(sizes: Sizes) -> Files:
    program = rust.made("world")
    commands = [
        (program, *_NETWORK, *words, "--seconds", seconds)
        for words in _SUBJECTS.values()
        for seconds in (_SHORT_S, _LONG_S)
    ]
    counts = list(each("instructions", commands, _count, sizes.jobs))
    lines = []
    for subject, short, long in zip(_SUBJECTS, counts[::2], counts[1::2], strict=True):
        lines += [f"start and packets, {subject} {short}", f"packets, {subject} {long - short}"]
    return {"packet_path.counts": lines}


def _count(command: Sequence[object]) -> int:
    done = run("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command)
    found = _COLLECTED.search(done.output)
    if done.status != 0 or found is None:
        raise SectionError(f"callgrind: {done.output[-2000:]}")
    return int(found[1])
