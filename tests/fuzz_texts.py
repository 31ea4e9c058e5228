"""Files that people write, with anything in them: read, or refused in a sentence, and nothing else.

    python -m tests.fuzz_texts 60        # so many seconds

Each input is an example of the kit with lines and characters changed, taken out, repeated or taken
from another example. What breaks a reader is kept in out/fuzz/found. The last line counts, in the
words of libFuzzer.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from apps import domain, qos_file
from controller.errors import ControllerError
from controller.p4info import P4Info
from controller.telemetry.semantics import load_semantics
from controller.toolchain import ROOT
from labs.sweep import plan
from topo import load
from topo.errors import TopologyError

FOUND = ROOT / "out" / "fuzz" / "found"
# The deadline for a file of a few kilobytes; in processor time, whatever else runs.
_DEADLINE_S = 5.0
_CHANGES_MAX = 6
# Words with a meaning: to YAML, to protobuf's text, or to readers of numbers.
_WORDS = [
    *("{", "}", "[", "]", ":", "- ", "&a ", "*a", "<<: *a", "!!python/none ", "? ", "|\n", "\t"),
    *("0", "-1", "1e309", ".nan", "0x10", "~", "''", '"', "#", "%", "é", "\0", "\ufeff", "---\n"),
    *("99999999999999999999", "10 Mb/s", "0 b/s", "1 packet", "yes", "2001-01-01", "0 ms"),
]


@dataclass(frozen=True)
class Reader:
    """A reader of a kind of file, and examples that it takes."""

    read: Callable[[Path], object]
    examples: Sequence[Path]


def readers() -> dict[str, Reader]:
    """All of them, by the kind of file."""

    def those(pattern: str) -> list[Path]:
        return sorted(ROOT.glob(pattern))

    return {
        "topology": Reader(
            load.load, [*those("labs/*/topology.yaml"), *those("labs/*/networks/*")]
        ),
        "domain": Reader(domain.load, those("labs/*/domain.yaml")),
        "qos": Reader(qos_file.load, those("apps/examples/*.yaml")),
        "sweep": Reader(plan.read, those("labs/sweeps/*.yaml")),
        "semantics": Reader(load_semantics, those("controller/telemetry/semantics.yaml")),
        "p4info": Reader(P4Info.load, those("build/p4/*.p4info.txtpb")),
    }


def changed(text: str, other: str, dice: random.Random) -> str:
    """A text like this one, with something wrong in it."""
    for _ in range(dice.randrange(1, _CHANGES_MAX)):
        start = dice.randrange(len(text) + 1)
        end = min(len(text), start + dice.choice((0, 1, 2, 8, 40)))
        match dice.randrange(6):
            case 0:
                text = text[:start] + text[end:]
            case 1:
                text = text[:start] + dice.choice(_WORDS) + text[end:]
            case 2:
                text = text[:end] + text[start:end] * dice.choice((1, 2, 50)) + text[end:]
            case 3:
                lines = text.splitlines(keepends=True)
                dice.shuffle(lines)
                text = "".join(lines) if dice.randrange(4) == 0 else text
            case 4:
                place = dice.randrange(len(other) + 1)
                text = text[:start] + other[place : place + dice.randrange(80)] + text[end:]
            case _:
                text = text[:start] + dice.choice("[{(-") * dice.choice((1, 3, 500)) + text[end:]
    return text


def try_one(reader: Reader, text: str, file: Path) -> str | None:
    """The mistake in how a text is read; none if it is read, or refused as it should be."""
    file.write_text(text)
    begun_s = time.process_time()
    try:
        reader.read(file)
    except (TopologyError, ControllerError) as error:
        if not str(error).strip():
            return "it was refused without a message"
    except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
        return traceback.format_exc()
    took_s = time.process_time() - begun_s
    return f"it took {took_s:.1f} s" if took_s > _DEADLINE_S else None


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status: whether something broke."""
    end_s = time.monotonic() + float(arguments[0])
    seed = int(os.environ.get("SEED") or time.time_ns() % 1_000_000)
    print(f"seed {seed}")
    dice = random.Random(seed)
    kinds = [(kind, reader) for kind, reader in readers().items() if reader.examples]
    texts = [path.read_text() for _, reader in kinds for path in reader.examples]
    count, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end_s:
            kind, reader = dice.choice(kinds)
            example = dice.choice(reader.examples)
            text = changed(example.read_text(), dice.choice(texts), dice)
            problem = try_one(reader, text, Path(folder) / example.name)
            count += 1
            if problem is not None:
                wrong += 1
                FOUND.mkdir(parents=True, exist_ok=True)
                (FOUND / f"{kind}-{seed}-{count}").write_text(text)
                print(f"{kind}-{seed}-{count}: {problem}", flush=True)
    print(f"stat::number_of_executed_units: {count}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
