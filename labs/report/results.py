"""results.json: every number that a lab found, with the bands' verdicts; and what can be had of it.

A run that ended early has one too. It names the runs that are kept and says why there are no more.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from labs.definition import Assessment, Band, Lab, Row
from labs.machine import Machine
from labs.run import Run
from topo.process import Identity


def document(lab: Lab, assessment: Assessment, machine: Machine) -> str:
    """The text of the file."""
    return _text(
        {
            **_head(lab, machine, ""),
            "remarks": list(assessment.remarks),
            "disturbances": list(assessment.disturbances),
            "bands": [_band(band) for band in assessment.bands],
            "numbers": dict(assessment.numbers),
            "table": [dataclasses.asdict(row) for row in assessment.rows],
            "runs": _runs(lab.runs()),
        }
    )


def early_document(lab: Lab, machine: Machine, kept: Sequence[Run], why: str) -> str:
    """The text of the file for a run that ended early."""
    return _text({**_head(lab, machine, why), "runs": _runs(kept)})


def running_document(lab: Lab, machine: Machine, process: Identity) -> str:
    """The text of the file while a process makes the run, and for good if that is killed."""
    why = "its process was killed, or could not write why it ended"
    owner = [process.pid, process.start_ticks]
    return _text({**_head(lab, machine, why), "process": owner, "runs": []})


def assessment_of(results: Mapping[str, Any]) -> Assessment:
    """A lab's results, from its results.json."""
    fields = {field.name for field in dataclasses.fields(Band)}
    bands = [
        Band(**{name: value for name, value in band.items() if name in fields} | _tuple(band))
        for band in results["bands"]
    ]
    return Assessment(
        rows=[Row(**row) for row in results["table"]],
        bands=bands,
        numbers=results["numbers"],
        remarks=results["remarks"],
        disturbances=results["disturbances"],
    )


def _tuple(band: Mapping[str, Any]) -> dict[str, Any]:
    return {"runs": tuple(band["runs"]), "every_seed": tuple(band.get("every_seed", ()))}


def _head(lab: Lab, machine: Machine, ended_early: str) -> dict[str, Any]:
    return {
        "lab": lab.name,
        "machine": machine.document(),
        "settings": lab.settings.document(),
        "ended_early": ended_early,
    }


def _runs(runs: Sequence[Run]) -> list[dict[str, Any]]:
    return [
        {"name": run.name, "title": run.title, "parameters": dict(run.parameters)} for run in runs
    ]


def _band(band: Band) -> dict[str, Any]:
    return {**dataclasses.asdict(band), "verdict": band.verdict.value}


def _text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
