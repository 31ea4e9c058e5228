"""Set-up jobs that run side by side: what a user sees of them, and what a failure ends."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from topo import wait

ROOT = Path(__file__).parents[2]
# `until_there FILE` is a condition with the deadline of the test.
HEAD = f"""
set -euo pipefail
. "{ROOT}/vm/say.sh"
. "{ROOT}/vm/jobs.sh"
until_there() {{ until [ -s "$1" ]; do read -rt 0.05 <> <(:) || true; done; }}
"""


def script(tmp_path, text):
    return subprocess.run(
        ["bash", "-c", HEAD + text],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


def is_alive(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_jobs_run_side_by_side_and_their_sentences_are_shown(tmp_path):
    # Each waits for the other, so they end only if both run at once.
    meet = 'meet() { echo here >"$1"; until_there "$2"; step "$1 is there"; }; '
    done = script(tmp_path, meet + "job one meet a b; job two meet b a; finish_jobs; echo after")
    assert (done.returncode, done.stdout) == (0, "after\n")
    said = done.stderr.splitlines()
    assert {"[vitrine] a is there", "[vitrine] b is there"} < set(said)
    assert sum("ready after" in line for line in said) == 2


def test_a_job_that_fails_shows_its_last_lines_and_ends_the_others(tmp_path):
    jobs = """
        forever() { echo $BASHPID >pid; exec tail -f /dev/null; }
        bad() { until_there pid; echo the cause; fail "it broke."; }
        job long forever
        job bad bad
        finish_jobs
        echo after
    """
    done = script(tmp_path, jobs)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the cause" in done.stderr
    assert done.stderr.count("[vitrine] Cannot go on: it broke.") == 1
    pid = int((tmp_path / "pid").read_text())
    wait.until(lambda: not is_alive(pid), "the end of the other job", 60)


def test_a_job_that_fails_silently_is_named_with_its_log(tmp_path):
    done = script(tmp_path, "job quiet false; finish_jobs")
    assert done.returncode == 1
    assert "Cannot go on: quiet failed, see build/log/quiet.job." in done.stderr


@pytest.mark.parametrize(
    ("compiled", "elapsed", "left"),
    [
        ("50 100", 26, ", about 1:14 left"),
        ("80 100", 132, ", about 1:08 left"),
        ("100 100", 200, ", about 0:00 left"),
        ("5 100", 3, ""),
    ],
    ids=["half of the crates take a quarter", "large ones come late", "done", "too early"],
)
def test_the_time_left_follows_how_long_a_build_takes(tmp_path, compiled, elapsed, left):
    assert script(tmp_path, f"time_left {compiled} {elapsed}").stdout == left


def test_a_terminal_shows_what_cargo_has_compiled(tmp_path):
    # As cargo draws it: a line without an end, over and over.
    jobs = r"""
        draw() { printf '    Building [==>  ] 40/80: units\r    Building [===> ] 60/80: device\r'; }
        job switch draw
        finish_jobs
    """
    leader, follower = pty.openpty()
    with subprocess.Popen(
        ["bash", "-c", HEAD + jobs],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stderr=follower,
    ) as process:
        assert process.wait(60) == 0
    os.close(follower)
    shown = os.read(leader, 65536).decode()
    os.close(leader)
    assert "working: switch (switch: 40/80 crates" in shown
    assert "working: switch (switch: 60/80 crates" in shown
    assert "[vitrine] switch: ready after" in shown
