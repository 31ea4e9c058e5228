"""Waiting: for a condition, with a deadline, which a slow machine may stretch."""

import itertools

import pytest

from topo import wait
from topo.errors import DeadlineError


@pytest.fixture
def clock(monkeypatch):
    """A clock that only pauses move; it counts them in steps of a hundredth of a second."""
    now_s = [0.0]

    def pause(seconds):
        now_s[0] += seconds

    monkeypatch.setattr(wait.time, "monotonic", lambda: now_s[0])
    monkeypatch.setattr(wait.time, "sleep", pause)
    return now_s


def test_a_condition_that_holds_costs_no_time(clock):
    wait.until(lambda: True, "a thing", 0.0)
    assert clock == [0.0]


def test_what_did_not_happen_is_named_with_the_deadline(clock):
    with pytest.raises(DeadlineError, match=r"^a thing did not happen within 2 s\.$"):
        wait.until(lambda: False, "a thing", 2.0)
    assert clock[0] == pytest.approx(2.0, abs=0.02)


def test_patience_stretches_a_deadline(clock, monkeypatch):
    monkeypatch.setenv("VITRINE_PATIENCE", "5")
    with pytest.raises(DeadlineError, match="within 10 s"):
        wait.until(lambda: False, "a thing", 2.0)
    # It comes to hold at the 601st look, after 600 pauses of 10 ms: later than the 2 s planned.
    looks = itertools.count()
    wait.until(lambda: next(looks) == 600, "a thing", 2.0)
    assert clock[0] == pytest.approx(10 + 6, abs=0.05)


@pytest.mark.parametrize("text", ["much", "0.5", "-1", "nan", "inf"])
def test_a_patience_that_is_no_number_of_at_least_one_is_refused(text, monkeypatch):
    monkeypatch.setenv("VITRINE_PATIENCE", text)
    with pytest.raises(DeadlineError, match=f"VITRINE_PATIENCE is '{text}'"):
        wait.until(lambda: True, "a thing", 1.0)
