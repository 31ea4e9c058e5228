"""A run that the machine disturbed is conducted again, and one that stays disturbed is named."""

import io
import json

import pytest

from labs.command import conduct
from labs.definition import Assessment, Band, Lab, Row, Verdict
from labs.measure.holdups import TOLERATED_SHARE, HoldUps, worst
from labs.recording import Recording
from labs.run import Run
from labs.settings import Settings
from labs.worlds.live import calm
from tests.first_lab import Bottleneck

SPAN_S = 10.0
CALM = HoldUps(0.0, SPAN_S)


def held_up(seconds):
    return HoldUps(seconds, SPAN_S)


class Scripted(Lab):
    """One run; each attempt at it is disturbed as the script says."""

    name = "scripted"
    title = summary = question = original = "a lab of the tests"
    look_for = ()
    least_seconds, least_seconds_for = 1, "to be a lab"
    place = Bottleneck(Settings()).place

    def __init__(self, *script):
        super().__init__(Settings())
        self.script = list(script)
        self.conducted = 0

    def runs(self):
        return [Run("only", "The only run", 1.0)]

    def conduct(self, run, bench):
        self.conducted += 1
        return Recording(hold_ups=self.script.pop(0), numbers={"attempt": self.conducted})

    def assess(self, recordings):
        attempt = recordings["only"].numbers["attempt"]
        return Assessment([Row("attempt", "", "", str(attempt))], [Band("any", 1.0, 0.0)], {})

    def figures(self, recordings):
        return []


@pytest.fixture(autouse=True)
def calm_machine(monkeypatch):
    monkeypatch.setattr(calm, "becomes_calm", lambda deadline_s: True)


@pytest.mark.parametrize(
    ("script", "conducted", "assessed"),
    [
        pytest.param([CALM], 1, 1, id="a calm run is conducted once"),
        pytest.param([held_up(2), CALM], 2, 2, id="a disturbed one again"),
        pytest.param([held_up(1), held_up(2)], 2, 1, id="the calmer of both counts"),
    ],
)
def test_a_disturbed_run_is_conducted_again(tmp_path, script, conducted, assessed):
    lab = Scripted(*script)
    assessment = conduct(lab, io.StringIO(), results=tmp_path)
    assert (lab.conducted, assessment.rows[0].measured) == (conducted, str(assessed))


def test_a_machine_that_does_not_become_calm_gets_no_second_attempt(tmp_path, monkeypatch):
    monkeypatch.setattr(calm, "becomes_calm", lambda deadline_s: False)
    lab, told = Scripted(held_up(2)), io.StringIO()
    assert conduct(lab, told, results=tmp_path).disturbances
    assert lab.conducted == 1
    assert "disturbed runs stay as they are" in told.getvalue()


def test_a_machine_that_asked_for_patience_gets_no_second_attempt(tmp_path, monkeypatch):
    """Emulated in software, it would disturb that one, too."""
    monkeypatch.setenv("VITRINE_PATIENCE", "10")
    lab = Scripted(held_up(2))
    assessment = conduct(lab, io.StringIO(), results=tmp_path)
    assert lab.conducted == 1
    assert assessment.disturbances


def test_a_run_that_stays_disturbed_is_named_wherever_its_numbers_are(tmp_path):
    told = io.StringIO()
    assessment = conduct(Scripted(held_up(0.5), held_up(0.6)), told, results=tmp_path)
    # A band that a disturbed run was to show is not judged.
    assert [band.verdict for band in assessment.bands] == [Verdict.NOT_JUDGED]
    sentence = "only: this machine held the router up for 0.50 of 10 s (5.0%)"
    assert assessment.disturbances == [sentence]
    assert f"disturbed   {sentence}" in told.getvalue()
    folder = tmp_path / "scripted" / "latest"
    assert json.loads((folder / "results.json").read_text())["disturbances"] == [sentence]
    assert sentence in (folder / "report.html").read_text()


def test_the_router_that_was_held_up_most_counts():
    assert worst([CALM, held_up(1), held_up(0.5)]) == held_up(1)
    # A lab without a network has no router to delay.
    assert not worst([]).disturb


def test_what_is_tolerated_is_less_than_the_bands_are_wide():
    assert not held_up(SPAN_S * TOLERATED_SHARE).disturb
    assert held_up(SPAN_S * TOLERATED_SHARE * 1.01).disturb
