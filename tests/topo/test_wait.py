"""Waiting: for a condition, with a deadline, which a slow machine may stretch."""

import asyncio
import time

import pytest

from topo import wait
from topo.errors import DeadlineError


def test_a_condition_that_holds_is_looked_at_once():
    looks = []
    wait.until(lambda: not looks.append("look"), "a thing", 0.0)
    assert looks == ["look"]


def test_what_did_not_happen_is_named_with_the_deadline():
    with pytest.raises(DeadlineError, match=r"^a thing did not happen within 0\.02 s\.$"):
        wait.until(lambda: False, "a thing", 0.02)


def test_patience_stretches_a_deadline(monkeypatch):
    monkeypatch.setenv("VITRINE_PATIENCE", "5")
    began_s = time.monotonic()
    # Five times 20 ms.
    with pytest.raises(DeadlineError, match=r"within 0\.1 s"):
        wait.until(lambda: False, "a thing", 0.02)
    assert time.monotonic() - began_s >= 0.1


@pytest.mark.parametrize("text", ["much", "0.5", "-1", "nan", "inf"])
def test_a_patience_that_is_no_number_of_at_least_one_is_refused(text, monkeypatch):
    monkeypatch.setenv("VITRINE_PATIENCE", text)
    with pytest.raises(DeadlineError, match=f"VITRINE_PATIENCE is '{text}'"):
        wait.until(lambda: True, "a thing", 1.0)


def test_only_what_is_different_is_told():
    sights = iter(["nobody", "nobody", "s1", "s1", "s2"])

    async def first(count):
        told = []
        async for sight in wait.changes(lambda: next(sights), every_s=0.0):
            told.append(sight)
            if len(told) == count:
                break
        return told

    assert asyncio.run(first(3)) == ["nobody", "s1", "s2"]
