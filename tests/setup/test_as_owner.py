"""Commands require root only where they need it: for a live network, or one that is up."""

from __future__ import annotations

import pytest

from vitrine.command import door
from vitrine.command.names import ROOT


class Become(Exception):  # noqa: N818 - where a process becomes another program
    """The program that the door becomes."""

    def __init__(self, argv):
        super().__init__(argv)
        self.argv = argv


@pytest.fixture
def went(monkeypatch, tmp_path):
    """Goes through the door, with nothing set up and nothing run; the words that it ends as."""
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    monkeypatch.delenv("WORLD", raising=False)
    monkeypatch.setattr(door, "_set_up", lambda needs, world: None)

    def become(file, argv):
        raise Become(argv)

    monkeypatch.setattr(door.os, "execv", become)

    def go(*words):
        with pytest.raises(Become) as ended:
            door.main(list(words))
        return ended.value.argv

    return go


def is_root(argv):
    return argv[0] == str(ROOT / "vm/as_root.sh")


def test_a_network_in_virtual_time_asks_for_no_root(went, tmp_path):
    (tmp_path / "reload.sock").touch()
    for words in (["reload"], ["down"], ["run", "--world", "virtual"], ["top"], ["check", "x"]):
        assert not is_root(went(*words)), words


def test_a_live_network_asks_for_root(went, tmp_path):
    (tmp_path / "network.json").write_text("{}")
    live = (["reload"], ["down"], ["run", "--world", "live"], ["up", "--world", "live"])
    for words in (*live, ["check", "x", "--live"], ["dev", "chaos"]):
        argv = went(*words)
        assert is_root(argv), words
        # Options reach the command as they were typed: sudo drops the environment.
        assert argv[-len(words) :] == words
    assert not is_root(went("top"))


def test_where_live_networks_cannot_be_it_says_why_and_runs_in_virtual_time(
    went, monkeypatch, capsys
):
    class Refused:
        returncode = 1
        stdout = "[vitrine] Cannot go on: this machine forbids namespaces: use a virtual machine.\n"

    monkeypatch.setattr(door.subprocess, "run", lambda *_, **__: Refused)
    assert went("run", "--quick")[-4:] == ["run", "--quick", "--world", "virtual"]
    said = capsys.readouterr().err
    assert said == ("[vitrine] This runs in the virtual world: this machine forbids namespaces.\n")
