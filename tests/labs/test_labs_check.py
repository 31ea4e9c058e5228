"""`make labs-check`: what it refuses, and when."""

import pytest

from labs import __main__ as command_line
from labs import catalogue, check
from labs.bottleneck.lab import Bottleneck
from labs.definition import Assessment
from labs.errors import SettingError
from labs.settings import Settings


class Refusing(Bottleneck):
    """A lab that cannot be run as it is set."""

    name = "refusing"

    def __init__(self, settings):
        raise SettingError("refusing cannot do this.")


def test_what_stops_the_last_lab_is_said_before_the_first_one_starts(monkeypatch):
    begun = []

    def conduct(lab, output):
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
    monkeypatch.setattr(check, "conduct", lambda lab, output: pytest.fail(f"{lab.name} began"))
    with pytest.raises(Exception, match=r"missing\.p4"):
        check.check(Settings(program="missing.p4"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("RATE", "RATE: all labs run with their own settings here. Leave it out."),
        ("LAB", "there is no setting LAB"),
    ],
)
def test_settings_of_one_lab_are_refused(name, said, monkeypatch, capsys):
    monkeypatch.setenv(name, "5mbit")
    monkeypatch.setenv("MAKEFLAGS", f" -- {name}=5mbit")
    assert command_line.main(["check"]) == 1
    assert said in capsys.readouterr().err
