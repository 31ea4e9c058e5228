"""Questions about a program, from its JSON."""

from __future__ import annotations

from tests.conformance.answers.questions import questions

PROGRAM = {
    "pipelines": [{"tables": [{"name": "ingress.routes"}]}],
    "counter_arrays": [{"name": "seen", "is_direct": False}, {"name": "hits", "is_direct": True}],
    "register_arrays": [{"name": "cells"}],
    "meter_arrays": [{"name": "police", "is_direct": False}, {"name": "own", "is_direct": True}],
}


def test_everything_is_asked_about_but_what_belongs_to_entries() -> None:
    asked = list(questions(PROGRAM))
    for line in (
        *("table_dump ingress.routes", "counter_read seen 0", "register_read cells 0"),
        "meter_get_rates police 0",
    ):
        assert line in asked
    assert not any(" hits" in line or " own" in line for line in asked)
