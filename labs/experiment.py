"""A table beside a lab: what an experiment found that is no run of the lab itself.

    kept = Experiment("bdp-tcp-windows", "windows", "vitrine run ...", ["buffer", "no loss"])
    status = kept.conducted(rows())    # a generator of ["1.0 BDP", "58 %"] and so on

It lies in out/<lab>/experiments/<name>.json, and `vitrine dev handout <that file>` puts it into the
lab's handout. The file is whole after each row, so that what ends an experiment early loses none.
What a sentence of the handout says of it stands in `numbers`, each under a name that ends in its
unit, as in a run's results.json.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from controller import ownership
from controller.errors import ControllerError
from labs import archive
from labs.errors import LabError
from labs.files import replace_text
from labs.machine import Machine
from labs.report import table
from topo.errors import TopologyError

FOLDER = "experiments"


@dataclass
class Experiment:
    """A table that grows by a row at a time."""

    lab: str
    name: str
    # The command that repeats it.
    command: str
    head: Sequence[str]
    results: Path = archive.RESULTS
    machine: Machine = field(default_factory=Machine.this_one)
    rows: list[list[str]] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """Where it is kept."""
        return self.results / self.lab / FOLDER / f"{self.name}.json"

    def conducted(self, rows: Generator[Sequence[str], None, None], *, sep: str = " | ") -> int:
        """Keeps and prints each row as it is found; the exit status of a command that does so."""
        try:
            ownership.refuse_links(self.results)
            with contextlib.closing(rows):
                for row in rows:
                    self.add(row)
                    print(*row, sep=sep, flush=True)
        except (ControllerError, LabError, TopologyError) as error:
            print(f"vitrine: {error}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            kept = (
                f"the rows until then are kept in {self.file}" if self.rows else "nothing is kept"
            )
            print(f"\nvitrine: interrupted; {kept}.", file=sys.stderr)
            # 128 + SIGINT, as shells count it.
            return 130
        print(f"Kept in {self.file}.")
        return 0

    def add(self, row: Sequence[str]) -> None:
        """One more row, kept at once."""
        assert len(row) == len(self.head), "a cell for each column"
        self.rows.append(list(row))
        content = {
            "lab": self.lab,
            "experiment": self.name,
            "command": self.command,
            "machine": self.machine.document(),
            "table": [list(self.head), *self.rows],
            **({"numbers": self.numbers} if self.numbers else {}),
        }
        self.file.parent.mkdir(parents=True, exist_ok=True)
        replace_text(self.file, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        ownership.give_to_caller(self.results)


def markdown(content: Mapping[str, Any]) -> str:
    """Command, machine and table of a kept experiment, as a handout shows them."""
    machine = Machine.from_document(content["machine"])
    return f"`{content['command']}`\n{machine}.\n\n{table.aligned(content['table'])}"
