"""A control plane that never answers is ended when its time is up."""

import subprocess
from types import SimpleNamespace

import pytest

from course.exercises.control_plane import process
from course.process import Runner
from course.story import Refused


def test_a_control_plane_that_never_answers_is_ended_and_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_ANSWER_S", 0.0)
    monkeypatch.setattr(process, "_LOOK_EVERY_S", 0.01)
    runner = Runner()
    monkeypatch.setattr(runner, "command", lambda argv, readable: ["tail", "-f", "/dev/null"])
    asked = process.Asked("s1", "10.255.0.1", ())
    work = SimpleNamespace(runner=runner)
    with process.running(work, [(asked, tmp_path, None)]) as (control,):
        with pytest.raises(Refused) as refused:
            control.tick(0.05)
        assert refused.value.story.came == "It answered nothing."
        assert control._process.wait() == -9


def test_a_control_plane_without_a_question_is_never_late(monkeypatch):
    monkeypatch.setattr(process, "_ANSWER_S", 0.0)
    idle = subprocess.Popen(
        ["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    with idle:
        process.Control(process.Asked("s1", "10.255.0.1", ()), None, idle).end_if_late()
        idle.stdin.close()
        assert idle.wait() == 0
