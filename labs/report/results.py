"""results.json: every number that a lab found, with the bands' verdicts."""

from __future__ import annotations

import dataclasses
import json

from labs.definition import Assessment, Band, Lab
from labs.machine import Machine


def document(lab: Lab, assessment: Assessment, machine: Machine) -> str:
    """The text of the file."""
    content = {
        "lab": lab.name,
        "machine": machine.document(),
        "settings": {**dataclasses.asdict(lab.settings), "toolchain": lab.settings.toolchain.value},
        "remarks": list(assessment.remarks),
        "bands_met": assessment.met,
        "disturbances": list(assessment.disturbances),
        "bands": [_band(band) for band in assessment.bands],
        "numbers": dict(assessment.numbers),
        "table": [dataclasses.asdict(row) for row in assessment.rows],
        "runs": [
            {"name": run.name, "title": run.title, "parameters": dict(run.parameters)}
            for run in lab.runs()
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _band(band: Band) -> dict[str, str | float | bool | None]:
    return {**dataclasses.asdict(band), "met": band.met}
