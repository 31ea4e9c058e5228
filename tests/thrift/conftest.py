"""One switch for all tests here; each begins with its state as the program declares it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.switch import ROOT
from tests.thrift.switch import ORACLE, Door, compiled, door


@pytest.fixture(scope="package")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(ROOT / "tests/thrift/guest.p4", tmp_path_factory.mktemp("program"))


# simple_switch can end when members are added after a reset, so each test has one of its own.
@pytest.fixture(scope="function" if ORACLE else "package")
def running_door(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with door(program, tmp_path_factory.mktemp("switch")) as found:
        yield found


@pytest.fixture
def switch(running_door: Door) -> Door:
    running_door.standard.bm_reset_state()
    return running_door
