"""The socket at which a network takes requests to reload: any bytes, and no free descriptor."""

import errno
import json
import socket
import threading
from types import SimpleNamespace

import pytest

from apps import reload
from apps.programming import Router
from controller import compiling, routers

DEADLINE_S = 60


def asked(line):
    """The answer to a line of bytes."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(DEADLINE_S)
        client.connect(str(routers.folder() / "reload.sock"))
        client.sendall(line)
        return json.loads(client.makefile().read())


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n",
        b"\xff\xfe\n",
        b"[]\n",
        b"7\n",
        b'{"router": 7}\n',
        b'{"routers": "s1"}\n',
        b'{"program": ["a"]}\n',
        b"[" * 100_000 + b"\n",
        b'{"program": "a\\u0000.p4"}\n',
        b'{"program": "\\ud800.p4"}\n',
        b'{"program": "' + b"a" * 5000 + b'.p4"}\n',
    ],
    ids=range(11),
)
def test_what_is_no_request_is_refused_and_the_next_is_served(line):
    topology = SimpleNamespace(name="s1", program=None)
    router = Router(None, None, topology, compiling.find("router"))
    with reload.serving([router]):
        assert not asked(line)["ok"]
        assert asked(b'{"router": "s9"}\n')["lines"] == ["there is no router 's9'; there are: s1."]


def test_a_client_that_sends_nothing_does_not_keep_others_out(monkeypatch):
    assert reload._SILENT_S == 5
    monkeypatch.setattr(reload, "_SILENT_S", 0.05)
    with reload.serving([]), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.connect(str(routers.folder() / "reload.sock"))
        assert not asked(b'{"router": "s9"}\n')["ok"]


def test_a_client_that_never_ends_its_request_does_not_keep_others_out(monkeypatch):
    monkeypatch.setattr(reload, "_SILENT_S", 0.05)
    monkeypatch.setattr(reload, "_BYTES_MAX", 1 << 40)
    closed = threading.Event()

    def flood(client):
        try:
            while not closed.is_set():
                client.sendall(b"{")
        except OSError:
            closed.set()

    with reload.serving([]), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as endless:
        endless.connect(str(routers.folder() / "reload.sock"))
        thread = threading.Thread(target=flood, args=(endless,), daemon=True)
        thread.start()
        try:
            assert not asked(b'{"router": "s9"}\n')["ok"]
        finally:
            closed.set()
            thread.join(timeout=DEADLINE_S)


class Exhausted:
    """A socket whose first accept finds no free descriptor."""

    def __init__(self, server):
        self._server, self._failed = server, False

    def accept(self):
        if not self._failed:
            self._failed = True
            raise OSError(errno.EMFILE, "Too many open files")
        return self._server.accept()


def test_without_a_free_descriptor_it_tries_again(monkeypatch):
    monkeypatch.setattr(reload, "_RETRY_S", 0.01)
    path, ended = routers.folder() / "reload.sock", threading.Event()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        server.listen()
        arguments = (Exhausted(server), [], ended)
        thread = threading.Thread(target=reload._serve, args=arguments, daemon=True)
        thread.start()
        assert not asked(b'{"router": "s9"}\n')["ok"]
        ended.set()
        server.shutdown(socket.SHUT_RDWR)
        thread.join(timeout=DEADLINE_S)
        assert not thread.is_alive()
