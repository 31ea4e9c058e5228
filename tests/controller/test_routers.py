"""The announcements of networks, and the remains of killed ones."""

import json
import os
import socket
import subprocess
import sys

import pytest

from controller import routers


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def left(place):
    """The files of a process that was killed, and of one whose number another process has now."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    reused = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    names = [f"routers-{ended.pid}.json", f"routers-{ended.pid}.key", f"routers-{reused.pid}.json"]
    for name in names:
        (place / name).write_text(json.dumps({"routers": {}, "owner": [reused.pid, 1]}))
    yield names
    reused.kill()
    reused.wait()


def names(folder):
    return sorted(each.name for each in folder.iterdir())


OWN = [f"routers-{os.getpid()}.json", f"routers-{os.getpid()}.key"]


def test_who_announces_a_network_removes_the_words_of_killed_ones(place, left):
    with routers.announced({"s1": "127.0.0.1:9559"}, hosts_key="k"):
        assert names(place) == OWN
    assert names(place) == []


def test_all_that_killed_networks_have_left_is_removed_and_what_lives_stays(place, left):
    with (
        socket.socket(socket.AF_UNIX) as heard,
        socket.socket(socket.AF_UNIX) as silent,
        routers.announced({"s1": "127.0.0.1:9559"}, hosts_key="k"),
    ):
        heard.bind(str(place / "heard.sock"))
        heard.listen()
        silent.bind(str(place / "silent.sock"))
        for name in left:
            (place / name).write_text("")
        assert routers.clean() == len(left) + 1
        assert routers.clean() == 0
        assert names(place) == sorted(["heard.sock", *OWN])


def test_what_another_program_has_put_there_is_taken_for_what_it_is(place):
    for number, text in enumerate(['"word"', "3", "[]", "[" * 100_000]):
        (place / f"routers-9999999{number}.json").write_text(text)
    folder = place / "routers-99999999.json"
    folder.mkdir()
    assert routers.all_up() == []
    assert routers.clean() == 4
    assert [*place.iterdir()] == [folder]


def test_somebody_listens_nobody_does_or_it_is_not_to_be_told(place):
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix:
        tcp.bind(("127.0.0.1", 0))
        port = f"127.0.0.1:{tcp.getsockname()[1]}"
        unix.bind(str(place / "s1.sock"))
        at = f"unix:{place / 's1.sock'}"
        assert (routers.listens(port), routers.listens(at)) == (False, False)
        tcp.listen()
        unix.listen(0)
        assert (routers.listens(port), routers.listens(at)) == (True, True)
        # More callers than it takes wait at its door.
        with socket.socket(socket.AF_UNIX) as first, socket.socket(socket.AF_UNIX) as second:
            for each in (first, second):
                each.setblocking(False)
                each.connect_ex(str(place / "s1.sock"))
            assert routers.listens(at) is None
    assert routers.listens(f"unix:{place / 'none.sock'}") is False
