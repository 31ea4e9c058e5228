"""`make exercise` never guesses a name that many students share: they would share numbers, too."""

import os
import pty
import subprocess
import sys

import pytest

from course import catalogue, working
from course.errors import CourseError

FIRST = catalogue.find("first-router")


def account(monkeypatch, name):
    for variable in ("SUDO_USER", "USER"):
        monkeypatch.delenv(variable, raising=False)
    if name:
        monkeypatch.setenv("USER", name)


@pytest.mark.parametrize("name", ["", "nobody", "root", "Student", "jovyan", "codespace"])
def test_a_shared_user_name_is_refused_without_a_terminal(name, monkeypatch):
    account(monkeypatch, name)
    with pytest.raises(CourseError, match=r"share the user name .* --student 'Ada Lovelace'"):
        working.student_for(FIRST, " ", None)


@pytest.mark.parametrize(
    ("user", "given", "answers", "name"),
    [
        ("ada", "", None, "ada"),
        ("root", "Grace  Hopper", None, "Grace Hopper"),
        ("root", "", ["", " Ada\tLovelace "], "Ada Lovelace"),
        ("ada", "", [""], "ada"),
        ("ada", "", ["Grace Hopper"], "Grace Hopper"),
    ],
)
def test_the_name_is_given_or_answered_or_the_account_s(user, given, answers, name, monkeypatch):
    account(monkeypatch, user)
    left = list(answers or [])
    ask = None if answers is None else lambda prompt: left.pop(0)
    assert working.student_for(FIRST, given, ask) == name
    assert not left


def test_a_student_who_answers_nothing_gets_no_copy(monkeypatch):
    account(monkeypatch, "root")
    prompts = []
    with pytest.raises(CourseError, match="--student"):
        working.student_for(FIRST, "", lambda prompt: prompts.append(prompt) or "")
    assert prompts == ["Your name: "] * 3

    def end_of_input(prompt):
        raise EOFError

    account(monkeypatch, "ada")
    with pytest.raises(CourseError, match="no name was given"):
        working.student_for(FIRST, "", end_of_input)


def test_the_command_asks_on_a_terminal_and_nowhere_else(tmp_path):
    words = [sys.executable, "-m", "vitrine", "exercise", "first-router"]
    environment = {**os.environ, "USER": "root", "VITRINE_WORK": str(tmp_path)}
    for variable in ("SUDO_USER",):
        environment.pop(variable, None)
    none = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "check": False}
    refused = subprocess.run(words, env=environment, **none)
    assert refused.returncode == 2
    assert "share the user name root" in refused.stderr
    assert not list(tmp_path.iterdir())

    ours, theirs = pty.openpty()
    try:
        os.write(ours, b"Ada Lovelace\n")
        subprocess.run(words, env=environment, stdin=theirs, check=True, capture_output=True)
    finally:
        os.close(ours)
        os.close(theirs)
    assert working.student_of(tmp_path / "first-router") == "Ada Lovelace"
