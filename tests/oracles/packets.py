"""Results of the STF tests, and what `vitrine-sim trace` shows of all their packets."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.oracles import scripts
from tests.oracles.running import BIN, INCLUDES, ROOT, digest, each, report, run
from tests.oracles.sections import Files
from tests.oracles.sizes import Sizes

_TESTS = ROOT / "tests"


@dataclass(frozen=True)
class _Case:
    """A program and a script, as paths within the repository."""

    source: str
    script: str


def record(sizes: Sizes) -> Files:
    results, traces = [], []
    for result, trace in each("packets", _cases(), _played, sizes.jobs):
        results += result
        traces += trace
    return {"results.txt": results, "traces.txt": traces}


def _cases() -> list[_Case]:
    """Scripts beside their programs, and those of p4src in a folder of the program's name."""
    found = [(script.with_suffix(".p4"), script) for script in _scripts("packets/*.stf")]
    found += [(script.with_suffix(".p4"), script) for script in _scripts("psa/*.stf")]
    kit = {source.stem: source for source in (ROOT / "p4src").glob("*/*.p4")}
    found += [(kit[script.parent.name], script) for script in _scripts("programs/*/*.stf")]
    return [_Case(*(str(path.relative_to(ROOT)) for path in pair)) for pair in found]


def _scripts(pattern: str) -> list[Path]:
    return sorted(_TESTS.glob(pattern))


def _played(case: _Case) -> tuple[list[str], list[str]]:
    sim, files = BIN / "vitrine-sim", (case.source, case.script)
    results = [case.script]
    for how in ((), ("--interpreted",)):
        done = run(sim, "stf", *INCLUDES, *how, *files)
        results += [f"  {' '.join(how) or 'native'}", *(f"    {line}" for line in report(done))]
    script = (ROOT / case.script).read_text("utf-8")
    with tempfile.NamedTemporaryFile("w", suffix=".stf") as entries:
        entries.write(scripts.settings(script))
        entries.flush()
        words = (*INCLUDES, "--entries", entries.name, case.source, *scripts.packets(script))
        text, rows = report(run(sim, "trace", *words)), run(sim, "trace", "--json", *words)
    trace = [case.script, *(f"  {line}" for line in text)]
    return [*results, f"  trace as JSON {digest(rows.output)}"], trace
