"""Generated programs: what the compiler made of each, and what became of its packets."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.generated import grow, play
from tests.oracles import scripts
from tests.oracles.running import BIN, digest, each, run
from tests.oracles.sections import Files
from tests.oracles.sizes import Sizes

# Digits of a digest that are recorded; a seed has five digests in one line.
_DIGITS = 16


def record(sizes: Sizes) -> Files:
    seeds = range(sizes.programs)
    lines = each("generated programs", seeds, _line, sizes.jobs, in_processes=True)
    return {"programs.txt": list(lines)}


def _line(seed: int) -> str:
    """Digests of source, JSON, P4Info and trace; and what the packet test said, native and not."""
    made = play.case(play.defined(grow.program(seed)))
    with tempfile.TemporaryDirectory() as name:
        source, script, entries, compiled, p4info = (
            Path(name, file)
            for file in ("program.p4", "program.stf", "entries.stf", "program.json", "p4info.txtpb")
        )
        source.write_text(made.source, "utf-8")
        script.write_text(made.script, "utf-8")
        found = {"source": _short(made.source), "script": _short(made.script)}
        outputs = ("-o", compiled, "--p4runtime-files", p4info)
        done = run(BIN / "vitrine-p4c", "--Wdisable", *_includes(), *outputs, source)
        if done.status != 0:
            return _joined(seed, found, f"compiler: status {done.status}")
        # The JSON names the source file, whose folder is another one each time.
        found["json"] = _short(compiled.read_text("utf-8").replace(name, ""))
        found["p4info"] = _short(p4info.read_bytes())
        play.leave_out_what_is_dead(compiled, script)
        said = []
        for how in ((), ("--interpreted",)):
            done = run(BIN / "vitrine-sim", "stf", *how, compiled, script)
            said.append(f"status {done.status}: {' '.join(done.lines).replace(name + '/', '')}")
        text = script.read_text("utf-8")
        entries.write_text(scripts.settings(text), "utf-8")
        if packets := scripts.packets(text):
            words = ("trace", "--json", "--entries", entries, compiled, *packets)
            found["trace"] = _short(run(BIN / "vitrine-sim", *words).output.replace(name, ""))
    return _joined(seed, found, said[0] if said[0] == said[1] else " but ".join(said))


def _includes() -> tuple[str, str]:
    return ("-I", str(play.INCLUDE))


def _short(content: bytes | str) -> str:
    return digest(content)[:_DIGITS]


def _joined(seed: int, found: dict[str, str], said: str) -> str:
    return " ".join([str(seed), *(f"{name}={value}" for name, value in found.items()), said])
