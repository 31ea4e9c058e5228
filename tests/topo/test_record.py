"""The remains of a run that the next one finds."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from topo import record, wait
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
    said = record.clean_stale()
    assert re.fullmatch(r"cleaned up after an interrupted run: 1 process \(\w+\), 0 links", said)
    assert process.has_ended()
    assert not record.path().exists()


def test_a_daemon_that_a_user_started_in_a_host_is_found_by_its_mark(tmp_path):
    with record.opened():
        daemon = Process(SLEEPER, tmp_path / "log")
        # A program that just starts has no environment for a moment.
        environment = Path(f"/proc/{daemon.pid}/environ")
        wait.until(environment.read_bytes, "the start of the daemon", 60)
        kept = json.loads(record.path().read_text())
    other = Process(SLEEPER, tmp_path / "other")
    try:
        # The run was killed: its record is still there, and names no process at all.
        assert kept["processes"] == []
        record.path().write_text(json.dumps({**kept, "owner": DEAD}))
        assert "1 process (" in record.clean_stale()
        assert daemon.has_ended()
        assert not other.has_ended()
    finally:
        other.end()


def test_a_process_that_took_over_a_dead_ones_id_is_spared():
    me = Identity.of(os.getpid())
    reused = [me.pid, me.start_ticks - 1]
    record.path().write_text(json.dumps({"owner": DEAD, "processes": [reused], "links": []}))
    assert "0 processes," in record.clean_stale()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '"word"',
        "[" * 100_000,
        '{"owner": [1], "processes": [], "links": []}',
        '{"owner": ["a", "b"], "processes": [], "links": []}',
        '{"owner": [1, 2], "processes": [[1]], "links": []}',
        '{"owner": [1, 2], "processes": [], "links": 3}',
        '{"owner": [1, 2], "processes": [], "links": [3]}',
    ],
    ids=lambda text: text[:40],
)
def test_a_record_that_cannot_be_read_is_named_with_what_to_do(text):
    record.path().write_text(text)
    with pytest.raises(StaleRunError, match="network.json, cannot be read .*delete that file"):
        record.clean_stale()
