"""What a run leaves behind and the next one finds."""

import json
import os
import sys

import pytest

from topo import record
from topo.errors import StaleRunError
from topo.process import Identity, Process

SLEEPER = [sys.executable, "-c", "import signal; signal.pause()"]
DEAD = [2**22 - 1, 1]


@pytest.fixture(autouse=True)
def run_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    return tmp_path


def test_without_a_record_there_is_nothing_to_clean():
    assert record.clean_stale() is None
    assert record.owner() is None


def test_the_record_exists_exactly_while_the_network_is_up():
    with record.opened():
        assert record.owner() == Identity.of(os.getpid())
    assert not record.path().exists()


def test_a_second_network_is_refused_while_one_is_up():
    with (
        record.opened(),
        pytest.raises(StaleRunError, match=f"made by process {os.getpid()}: .*make down"),
    ):
        record.clean_stale()


def test_processes_of_a_dead_run_are_ended_and_counted(tmp_path):
    process = Process(SLEEPER, tmp_path / "log")
    identity = Identity.of(process.pid)
    left = [[identity.pid, identity.start_ticks], DEAD]
    record.path().write_text(json.dumps({"owner": DEAD, "processes": left, "links": ["none0"]}))
    assert record.clean_stale() == "cleaned up after an interrupted run: 1 processes, 0 links"
    assert process.has_ended()
    assert not record.path().exists()


def test_a_process_that_took_over_a_dead_ones_id_is_spared():
    me = Identity.of(os.getpid())
    reused = [me.pid, me.start_ticks - 1]
    record.path().write_text(json.dumps({"owner": DEAD, "processes": [reused], "links": []}))
    assert "0 processes" in record.clean_stale()


def test_a_record_that_cannot_be_read_is_named_with_what_to_do():
    record.path().write_text("{")
    with pytest.raises(StaleRunError, match="network.json, cannot be read .*delete that file"):
        record.clean_stale()
