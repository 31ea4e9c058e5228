"""Every lab in the virtual world: its bands are met, without root, and twice the same."""

import html
import io
import json

import pytest

from labs import catalogue
from labs.command import conduct, conduct_both
from labs.definition import Verdict
from labs.report import results
from labs.settings import Settings
from labs.world import World

QUICK = Settings(quick=True, world=World.VIRTUAL)
# What hosts in virtual time do otherwise than the kernel's: before a buffer of two packets, pairs
# that one acknowledgement releases are lost less often (use of the line .78, on live hosts .27).
DELAYED = "buffer 2, delayed acknowledgements: part of the line that is used"
KNOWN = {"sizing-router-buffers": {DELAYED}}


@pytest.mark.parametrize("name", [lab.name for lab in catalogue.LABS])
def test_the_bands_of_a_lab_are_met(name, tmp_path):
    told = io.StringIO()
    assessment = conduct(catalogue.named(name)(QUICK), told, results=tmp_path)
    missed = {band.claim for band in assessment.bands if band.verdict is Verdict.NOT_MET}
    assert missed == KNOWN.get(name, set()), told.getvalue()
    report = (tmp_path / name / "latest" / "report.html").read_text()
    assert html.escape(World.VIRTUAL.sentence) in report


def test_a_run_is_the_same_again_and_another_seed_is_another_one(tmp_path):
    kind = catalogue.named("int-microburst")
    for _ in range(2):
        conduct(kind(QUICK), io.StringIO(), results=tmp_path)
    first, again = sorted((tmp_path / kind.name).glob("2*"))
    files = sorted(path.relative_to(first) for path in first.rglob("data/**/*.csv"))
    assert len(files) > 3
    for file in files:
        assert (first / file).read_bytes() == (again / file).read_bytes(), file
    seeds = Settings(quick=True, world=World.VIRTUAL, seeds=2)
    conduct(kind(seeds), io.StringIO(), results=tmp_path)
    kept = (tmp_path / kind.name / "latest" / "seeds" / "2.json").read_text()
    other = results.assessment_of(json.loads(kept))
    assert other.bands


def test_both_worlds_need_one_settings_each(tmp_path):
    # Two virtual sides stand for the two worlds where there is no live one.
    settings = [QUICK, Settings(quick=True, world=World.VIRTUAL, queue_packets=20)]
    told = io.StringIO()
    conduct_both(catalogue.named("bottleneck"), settings, told, results=tmp_path)
    (page,) = (tmp_path / "bottleneck").glob("compared-*/report.html")
    assert "QUEUE=20" in page.read_text()
