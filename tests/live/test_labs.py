"""The bands of the labs that reproduce their documents, each lab shortened and on a real network.

A band that is not met is reported with the table, so that the number can be judged.
"""

import io

import pytest

from labs import catalogue
from labs.command import conduct
from labs.settings import Settings

# The others need more time or faster lines than a test may take; `make labs-check` runs them all.
LABS = ("bufferbloat", "sizing-router-buffers", "link-sharing", "hol-blocking")


@pytest.fixture(autouse=True)
def run_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path / "run"))


@pytest.mark.parametrize("name", LABS)
def test_the_bands_of_a_lab_are_met(name, tmp_path):
    told = io.StringIO()
    assessment = conduct(catalogue.named(name)(Settings(quick=True)), told, results=tmp_path)
    missed = [str(band) for band in assessment.bands if not band.met]
    assert missed == [], told.getvalue()
    assert (tmp_path / name / "report.html").stat().st_size > 100_000
