"""The report on a program that was run to its end, or was late."""

import sys
from pathlib import Path

from tests.finished import Finished, finished


def test_both_outputs_come_in_the_order_in_which_they_were_written():
    script = "echo one; echo two >&2; echo; echo three; exit 3"
    ended = finished(["sh", "-c", script], 30)
    assert ended == Finished(3, "one\ntwo\n\nthree\n")
    assert ended.lines == ["one", "two", "three"] and not ended.was_late


def test_who_is_late_is_ended_and_what_it_said_is_kept():
    # It tells its number, so that its end can be seen.
    ended = finished(["sh", "-c", "echo $$; exec tail -f /dev/null"], 1)
    assert ended.was_late and ended.status is None
    (number,) = ended.lines
    assert not Path(f"/proc/{number}").exists()


def test_it_runs_where_and_with_what_it_is_told(tmp_path):
    program = "import os; print(os.getcwd(), os.environ['WHO'], input())"
    ended = finished(
        [sys.executable, "-c", program],
        30,
        folder=tmp_path,
        environment={"WHO": "me"},
        typed="hello\n",
    )
    assert ended == Finished(0, f"{tmp_path} me hello\n")


def test_bytes_that_are_no_text_harm_nobody():
    assert finished(["printf", r"a\377b"], 30).output == "a\ufffdb"
