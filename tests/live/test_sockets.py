"""Routers of a network that is up let root and the caller of sudo in, and no other user."""

import os
import stat
from collections.abc import Callable

import pytest

from controller import connection, routers
from controller.addresses import socket_of
from controller.errors import ControllerError
from controller.session import Session
from labs.settings import Settings
from tests.first_lab import Bottleneck
from tests.process import stranger
from topo import preflight
from topo.live import LiveNetwork

# The users `daemon` and `nobody`: every distribution has them.
STRANGER, CALLER = 1, 65534
NET = Bottleneck(Settings(quick=True)).topology()


def as_user(uid: int, act: Callable[[], str]) -> str:
    """The result of a process of that user's."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = ""
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            said = act()
        except (ControllerError, OSError) as error:
            said = str(error)
        finally:
            os.write(writing, said.encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        said = stream.read()
    os.waitpid(child, 0)
    return said


@pytest.fixture
def network(tmp_path, monkeypatch):
    monkeypatch.setenv("SUDO_UID", str(CALLER))
    with LiveNetwork(NET, logs=tmp_path) as network:
        yield network


def test_the_socket_is_the_callers_and_others_are_refused_in_a_sentence(network):
    address = network.address("s1")
    path = socket_of(address)
    assert path is not None
    status = path.stat()
    assert (status.st_uid, stat.S_IMODE(status.st_mode)) == (CALLER, 0o600)
    assert stranger.heard(path, CALLER)[0] == "let in"
    with Session.observe("s1") as session:
        assert session.address == address, "root gets in"

    def connect() -> str:
        connection.open_channel(address)
        return "let in"

    assert "it admits nobody and root only" in as_user(STRANGER, connect)
    # The owner may open the file to all users; the switch identifies its peers nevertheless.
    path.chmod(0o666)
    told = f"that of user {CALLER}, whose socket it is, and of root, and you are user {STRANGER}"
    heard = stranger.heard(path, STRANGER)
    assert all("PERMISSION_DENIED" in line and told in line for line in heard[:-1]), heard
    assert heard[-1] == stranger.IDLE
    assert "wanted to connect" in (network.logs / "s1.log").read_text()


def test_nothing_listens_on_tcp(network):
    preflight.check_port_free(NET.switch("s1").grpc_port, "s1")


def test_the_socket_goes_with_the_network(tmp_path):
    with LiveNetwork(NET, logs=tmp_path):
        assert routers.socket_path("s1").is_socket()
    assert not routers.socket_path("s1").exists()
