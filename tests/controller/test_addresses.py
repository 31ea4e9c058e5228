"""Names, sockets and ports: how a device is said, and what is said where none answers."""

import os
import socket

import pytest

from controller import connection, routers
from controller.addresses import parted, socket_of
from controller.errors import ConnectError


@pytest.fixture(autouse=True)
def run_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("address", "place", "device"),
    [
        ("127.0.0.1:9559", "127.0.0.1:9559", None),
        ("127.0.0.1:9559/2", "127.0.0.1:9559", 2),
        ("unix:/run/vitrine/s1.sock", "unix:/run/vitrine/s1.sock", None),
        ("unix:/tmp/world.sock/12", "unix:/tmp/world.sock", 12),
        # A file of another name may lie in a folder, and be called by a number.
        ("unix:/tmp/sockets/12", "unix:/tmp/sockets/12", None),
    ],
)
def test_a_device_stands_behind_a_slash(address, place, device):
    assert parted(address) == (place, device)
    path = socket_of(address)
    assert (str(path) if path else None) == (place[5:] if place.startswith("unix:") else None)


def test_what_is_no_address_says_how_one_is_written():
    with pytest.raises(ConnectError, match="write HOST:PORT, or HOST:PORT/DEVICE"):
        parted("127.0.0.1:9559/s1")


def test_a_router_that_nobody_has_announced_is_found_by_its_socket(run_dir):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(run_dir / "s7.sock"))
        assert routers.address_of("s7") == f"unix:{run_dir}/s7.sock"


def test_where_nothing_is_up_who_names_no_router_is_told_so_at_once(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        by_hand = f"127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setattr(routers, "DEFAULT_ADDRESS", by_hand)
        # A router that was started by hand, where P4Runtime is looked for.
        assert routers.address_of("") == by_hand
    with pytest.raises(ConnectError, match="no network of the kit is up: `vitrine up` starts one"):
        routers.address_of("")


def test_routers_in_virtual_time_may_share_a_socket():
    live = routers.Up({"s1": "unix:/run/vitrine/s1.sock"})
    virtual = routers.Up({"s1": "unix:/tmp/world.sock/1", "s2": "unix:/tmp/world.sock/2"})
    assert (live.world, virtual.world) == ("live", "virtual")


def test_who_asks_at_a_port_is_told_of_routers_at_sockets(run_dir):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        address = f"127.0.0.1:{unused.getsockname()[1]}"
    with (
        routers.announced({"s1": f"unix:{run_dir}/s1.sock"}),
        pytest.raises(ConnectError, match="routers that are up are s1, .* --grpc tcp"),
    ):
        connection.open_channel(address, deadline_s=0.2)
    with pytest.raises(ConnectError, match="is the switch running"):
        connection.open_channel(address, deadline_s=0.2)


def test_a_socket_that_is_not_there_is_said(run_dir):
    with pytest.raises(ConnectError, match="s1.sock within 0.2 s: there is no such socket"):
        connection.open_channel(f"unix:{run_dir}/s1.sock", deadline_s=0.2)


def test_whose_a_socket_is_others_are_told_at_once(run_dir, monkeypatch):
    path = run_dir / "s1.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        monkeypatch.setattr(os, "access", lambda *_: False)
        monkeypatch.setattr(type(path), "owner", lambda _: "ada")
        said = "s1.sock is ada's: it admits ada and root only"
        with pytest.raises(ConnectError, match=said):
            connection.open_channel(f"unix:{path}")
