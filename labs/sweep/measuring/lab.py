"""A lab with one seed: the numbers behind its table, and how many of its bands are met."""

from __future__ import annotations

import platform

from labs import catalogue, repeat
from labs.definition import Verdict
from labs.settings import Settings
from labs.sweep.measuring import versions
from labs.sweep.measuring.versions import Versions
from labs.sweep.measuring.work import LabWork

BANDS_MET, BANDS = "bands_met", "bands"


def measured(work: LabWork, seed: int, wanted: Versions) -> dict[str, float]:
    """Every number that the lab found."""
    settings = Settings.from_document(work.settings)
    wanted.check(versions.of_lab(settings.program), platform.node())
    found = repeat.assessed(catalogue.named(work.lab)(settings), seed)
    met = found.count(Verdict.MET)
    return {**found.numbers, BANDS_MET: met, BANDS: len(found.bands)}
