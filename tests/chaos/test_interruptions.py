"""Commands that are interrupted leave nothing; `make interruptions` tries many more instants."""

import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from tests.chaos import interruptions
from tests.chaos.interruptions import COMMANDS, Ends, LeftError, Sandbox
from topo import wait


@pytest.fixture
def sandbox(monkeypatch):
    # Other tests are busy beside it.
    monkeypatch.setenv("VITRINE_PATIENCE", "5")
    # pytest's own folders have names too long for the sockets that are to be looked for there.
    with tempfile.TemporaryDirectory() as folder:
        yield Sandbox(Path(folder), f"test-{folder}", "virtual")


@pytest.mark.parametrize(
    ("name", "how", "after_s"),
    [("up", "SIGTERM", 3.0), ("glass", "Ctrl-C", 1.0), ("up", "SIGKILL", 2.0)],
)
def test_an_interrupted_command_leaves_nothing(sandbox, name, how, after_s):
    interruptions.interrupt(sandbox, name, how, after_s)


def test_what_still_runs_is_found(sandbox):
    assert sandbox.left() is None
    waiting = "import sys; sys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-c", waiting], env=sandbox.environment, stdin=subprocess.PIPE
    )
    wait.until(lambda: sandbox.left() is not None, "that it is seen", 60)
    assert f"{process.pid}: " in sandbox.left()
    process.communicate()
    assert sandbox.left() is None
    (sandbox.folder / "tmp").mkdir()
    (sandbox.folder / "tmp" / "forgotten").touch()
    assert "forgotten" in sandbox.left()
    # A killed command may leave files that name their owner, and nothing else.
    assert "forgotten" in sandbox.left(was_killed=True)
    (sandbox.folder / "tmp" / "forgotten").rename(sandbox.folder / "tmp" / "vitrine-1")
    assert sandbox.left(was_killed=True) is None
    assert "vitrine-1" in sandbox.left()
    sandbox.sweep()
    assert sandbox.left() is None


def test_a_command_that_never_worked_is_not_taken_for_interrupted(sandbox, monkeypatch):
    wrong = interruptions.Command(
        [sys.executable, "-c", "raise SystemExit('no such thing')"], Ends.BY_ITSELF
    )
    monkeypatch.setitem(COMMANDS, "lab", wrong)
    with pytest.raises(LeftError, match=r"ended by itself with status 1: no such thing"):
        interruptions.interrupt(sandbox, "lab", "SIGTERM", 3.0)
    with pytest.raises(LeftError, match=r"does not work any more \(status 1\): no such thing"):
        interruptions.whole(sandbox, "lab")


def test_at_a_prompt_ctrl_d_comes_behind_ctrl_c(sandbox, monkeypatch):
    prompt = (
        "while True:\n"
        "    try:\n"
        "        input('> ')\n"
        "    except KeyboardInterrupt:\n"
        "        print()\n"
        "    except EOFError:\n"
        "        break\n"
    )
    program = interruptions.Command([sys.executable, "-c", prompt], Ends.WITH_INPUT)
    monkeypatch.setitem(COMMANDS, "up", program)
    interruptions.interrupt(sandbox, "up", "Ctrl-C", 1.0)


def test_what_nohup_began_hears_of_a_closed_terminal_all_the_same(sandbox, monkeypatch):
    waiting = interruptions.Command(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], Ends.WITH_INPUT
    )
    monkeypatch.setitem(COMMANDS, "lab", waiting)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        interruptions.interrupt(sandbox, "lab", "a closed terminal", 0.5)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_run_says_how_often_what_was_interrupted_how():
    head, *rows = interruptions.table(Counter({("up", "SIGTERM"): 3, ("run", "Ctrl-C"): 12}))
    assert head.endswith("SIGTERM             SIGKILL")
    assert {row.split()[0]: row.split()[1:] for row in rows} == {
        **dict.fromkeys(COMMANDS, ["0"] * 4),
        "run": ["12", "0", "0", "0"],
        "up": ["0", "0", "3", "0"],
    }
