"""`make labs-check`: what it refuses, and when."""

import subprocess

import pytest

from labs import archive, catalogue, check
from labs.archive import Kept
from labs.bufferbloat.lab import Bufferbloat
from labs.definition import Assessment
from labs.errors import SettingError
from labs.settings import Settings
from labs.world import World
from tests.first_lab import Bottleneck
from vitrine.command import run as command


class Refusing(Bottleneck):
    """A lab that cannot be run as it is set."""

    name = "refusing"

    def __init__(self, settings):
        raise SettingError("refusing cannot do this.")


def test_what_stops_the_last_lab_is_said_before_the_first_one_starts(monkeypatch):
    begun = []

    def conduct(lab, output, **_):
        begun.append(lab.name)
        return Assessment([], [], {})

    monkeypatch.setattr(check, "conduct", conduct)
    monkeypatch.setattr(catalogue, "LABS", (Bottleneck, Refusing))
    with pytest.raises(SettingError, match="refusing cannot do this"):
        check.check(Settings())
    assert begun == []
    monkeypatch.setattr(catalogue, "LABS", (Bottleneck, Bottleneck))
    check.check(Settings())
    assert begun == ["bottleneck", "bottleneck"]


def test_a_program_that_is_not_there_is_said_before_the_first_lab_starts(monkeypatch):
    monkeypatch.setattr(check, "conduct", lambda lab, output, **_: pytest.fail(f"{lab.name} began"))
    with pytest.raises(Exception, match=r"missing\.p4"):
        check.check(Settings(program="missing.p4"))


def test_labs_in_virtual_time_are_told_as_they_end_and_found_by_nobody(
    monkeypatch, capsys, tmp_path
):
    begun = []

    def run(command, *, env, **_):
        name = command[4]
        begun.append((name, env["VITRINE_RUN_DIR"]))
        return subprocess.CompletedProcess(command, 0, f"{name} has ended\n", "")

    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    monkeypatch.setattr(check.subprocess, "run", run)
    monkeypatch.setattr(check, "processors", lambda: 1)
    monkeypatch.setattr(archive, "find", lambda name: Kept(tmp_path / name, {}))
    monkeypatch.setattr(check, "assessment_of", lambda results: Assessment([], [], {}))
    monkeypatch.setattr(catalogue, "LABS", (Bottleneck, Bufferbloat))
    check.check(Settings(world=World.VIRTUAL))
    # The longest begins first.
    assert [name for name, _ in begun] == ["bufferbloat", "bottleneck"]
    assert "bufferbloat has ended\n\nbottleneck has ended\n" in capsys.readouterr().out
    # Only a user's own network has a router called s1.
    assert str(tmp_path) not in [place for _, place in begun]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("--rate", "leave out --rate."),
        ("--queue", "leave out --queue."),
    ],
)
def test_settings_of_one_lab_are_refused(name, said, capsys):
    assert command.main(["run", "--all", name, "5"]) == 2
    assert said in capsys.readouterr().err


def test_one_lab_is_not_all(capsys):
    assert command.main(["run", "bottleneck", "--all"]) == 2
    assert "leave out a lab" in capsys.readouterr().err
