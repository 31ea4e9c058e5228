"""The comparison of random updates with a model: on a program of the kit, and that it can fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.conformance.entries import schema
from tests.conformance.entries.__main__ import Switch, compiled, run
from tests.process.switch import ROOT, free_port, running


@pytest.fixture
def switch(tmp_path: Path) -> Iterator[tuple[Switch, list[schema.Table]]]:
    program = ROOT / "p4src/programs/router.p4"
    info, json = compiled(program, ["-I", "p4src", "-I", "p4src/include"], tmp_path)
    port = free_port()
    with running("--grpc", f"127.0.0.1:{port}", port=port, log=tmp_path / "log"):
        controller = Switch(port, info, json)
        yield controller, schema.tables(info)
        controller.end()


def test_every_update_has_the_code_that_the_specification_gives_it(
    switch: tuple[Switch, list[schema.Table]],
) -> None:
    controller, tables = switch
    seen = run(controller, tables, 2000, Random(1))
    assert seen.total() == 2000
    # All kinds of answers were met: OK, NOT_FOUND, ALREADY_EXISTS and INVALID_ARGUMENT.
    assert set(seen) >= {0, 3, 5, 6}


def test_a_difference_is_told_with_its_update(
    switch: tuple[Switch, list[schema.Table]], monkeypatch: pytest.MonkeyPatch
) -> None:
    controller, tables = switch
    monkeypatch.setattr(controller, "write", lambda updates: [0] * len(updates))
    with pytest.raises(AssertionError, match=r"OK, not (ALREADY|INVALID|NOT_FOUND)"):
        run(controller, tables, 2000, Random(1))
