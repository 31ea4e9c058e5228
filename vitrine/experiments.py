"""Experiments of queueing theory, with the router's own parts or with classes of the notebook."""

from __future__ import annotations

import ast
import json
import linecache
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller.errors import ControllerError
from controller.toolchain import ROOT
from labs.report import drawing
from vitrine.shown import Picture, Table

_SIMULATOR = ROOT / "build" / "bin" / "vitrine-sim"
_DEADLINE_S = 600.0


class ExperimentError(ControllerError):
    """An experiment that could not be made, or a class that did what is not allowed."""


@dataclass(frozen=True)
class Found:
    """The results of an experiment's runs, a dictionary each."""

    runs: Sequence[dict[str, Any]]

    def __getitem__(self, name: str) -> Any:
        """A number of the only run; of several use `runs`."""
        if len(self.runs) != 1:
            raise ExperimentError(f"there are {len(self.runs)} runs: say which, as in .runs[0].")
        return self.runs[0][name]

    @property
    def classes(self) -> Found:
        """The classes of the only run of `queue`, a line each, the lowest first."""
        return Found(self["classes"])

    def plot(self, x: str, *names: str) -> Picture:
        """Numbers over another one, a line each: `plot("load", "throughput")`."""
        values = [run[x] for run in self.runs]
        lines = {name: [run[name] for run in self.runs] for name in names}

        def draw(axes: drawing.Axes) -> None:
            drawing.compare(axes, values, lines)
            axes.set_xlabel(x)
            drawing.legend(axes)

        return Picture.of(draw, f"{', '.join(names)} over {x}.")

    def _repr_html_(self) -> str:
        simple = [
            {name: value for name, value in run.items() if not isinstance(value, (list, dict))}
            for run in self.runs
        ]
        names = list(simple[0])
        lines = [names, *([_word(run.get(name, "")) for name in names] for run in simple)]
        return Table(lines)._repr_html_()


def _word(value: object) -> str:
    """A value as a table shows it: what was measured has no fifteen digits."""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def fabric(**options: object) -> Found:
    """An N x N router under a pattern of traffic: `fabric(ports=8, load=0.9, arbiter="islip:1")`.

    Options are those of `vitrine-sim fabric`; a list is several runs. `arbiter` may be a class of
    `insides.Arbiter`.
    """
    return _simulated("fabric", options)


def queue(**options: object) -> Found:
    """One line with classes: `queue(loads="1,1", lengths="64,1500", scheduler="drr")`.

    Options are those of `vitrine-sim queue`. `scheduler` and `aqm` may be classes of `insides`.
    """
    return _simulated("queue", options)


def _simulated(what: str, options: dict[str, object]) -> Found:
    with tempfile.TemporaryDirectory(prefix="vitrine-") as folder:
        argv = [str(_SIMULATOR), what]
        for name, value in options.items():
            if isinstance(value, type):
                value = written(value, Path(folder))
            if isinstance(value, (list, tuple)):
                value = ",".join(map(str, value))
            argv += [f"--{name.replace('_', '-')}", str(value)]
        # Only the package itself: a module of the kit's must not shadow one of the class's.
        (Path(folder) / "insides").symlink_to(ROOT / "insides")
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            check=False,
            timeout=_DEADLINE_S,
            env={**os.environ, "VITRINE_PYTHON": sys.executable, "PYTHONPATH": folder},
        )
    if done.returncode != 0:
        raise ExperimentError(done.stderr.strip().removeprefix("vitrine-sim: "))
    return Found([json.loads(line) for line in done.stdout.splitlines()])


def written(kind: type, folder: Path) -> str:
    """A class of a cell in a file of its own, as `FILE:CLASS`."""
    file = folder / f"{kind.__name__.lower()}.py"
    file.write_text(_source(kind))
    return f"{file}:{kind.__name__}"


def _source(kind: type) -> str:
    """The class as it was written, and what its cell imports."""
    # Python does not know where a class of a notebook stands, but where its methods do.
    code = next((each.__code__ for each in vars(kind).values() if hasattr(each, "__code__")), None)
    text = "".join(linecache.getlines(code.co_filename)) if code is not None else ""
    if not text:
        raise ExperimentError(f"the text of {kind.__name__} is not known: put it into a file.")
    wanted = [ast.unparse(node) for node in ast.parse(text).body if _is_of_class(node, kind)]
    return "\n".join(["from insides import *", *wanted, ""])


def _is_of_class(node: ast.stmt, kind: type) -> bool:
    """Whether a statement of a cell goes along with its class: imports and constants do."""
    if isinstance(node, ast.Import):
        return True
    if isinstance(node, ast.ImportFrom):
        # The experiments themselves are the notebook's business.
        return node.module != "vitrine"
    if isinstance(node, ast.Assign):
        return not any(isinstance(each, ast.Call) for each in ast.walk(node))
    return isinstance(node, ast.ClassDef) and node.name == kind.__name__
