"""Processes by id."""

import os
import signal
import sys

import pytest

from topo import wait
from topo.errors import DeadlineError, ProcessError
from topo.process import Identity, Process

SLEEPER = [sys.executable, "-c", "import signal; signal.pause()"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True);"
    "\nwhile True: signal.pause()",
]


def test_a_process_is_gone_once_it_was_ended(tmp_path):
    process = Process(SLEEPER, tmp_path / "log")
    identity = Identity.of(process.pid)
    assert identity.is_alive()
    process.end()
    assert not identity.is_alive()
    process.end()


def test_a_process_that_ignores_sigterm_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr("topo.process.STOP_DEADLINE_S", 0.3)
    process = Process(STUBBORN, tmp_path / "log")
    wait.until(lambda: "ready" in process.log.read_text(), "the start", 60)
    process.end()
    assert process.has_ended()


def test_another_process_with_a_reused_id_is_not_the_same():
    me = Identity.of(os.getpid())
    assert me.is_alive()
    assert not Identity(me.pid, me.start_ticks - 1).is_alive()


def test_ending_an_identity_whose_process_is_gone_does_nothing(tmp_path):
    process = Process(SLEEPER, tmp_path / "log")
    identity = Identity.of(process.pid)
    process.end()
    identity.end()


def test_the_output_of_a_process_that_ends_well_is_returned(tmp_path):
    process = Process(["echo", "hello"], tmp_path / "log")
    assert process.wait("echo", 10) == "hello\n"


def test_the_last_words_of_a_process_that_fails_are_in_the_error(tmp_path):
    process = Process(["sh", "-c", "echo no such port; exit 3"], tmp_path / "log")
    with pytest.raises(ProcessError, match="ended with status 3: no such port"):
        process.wait("the program", 10)


def test_a_process_that_does_not_end_meets_the_deadline(tmp_path):
    process = Process(SLEEPER, tmp_path / "log")
    try:
        with pytest.raises(DeadlineError, match="the end of it did not happen within 0.1 s"):
            process.wait("it", 0.1)
    finally:
        process.end()


def test_a_program_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ProcessError, match="no-such-program cannot be started: No such file"):
        Process(["no-such-program"], tmp_path / "log")


def test_ctrl_c_at_the_terminal_does_not_reach_a_child(tmp_path):
    process = Process(SLEEPER, tmp_path / "log")
    try:
        # Ctrl-C goes to the terminal's foreground group, and the child has a group of its own.
        assert os.getpgid(process.pid) != os.getpgid(0)
    finally:
        os.kill(process.pid, signal.SIGTERM)
        wait.until(process.has_ended, "the end", 60)
