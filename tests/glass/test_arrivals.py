"""Connections that have not sent their request: how many there may be, and for how long."""

import contextlib
import socket

import pytest
from websockets.exceptions import InvalidStatus

from labs.glass import arrivals, looking, server
from labs.glass.arrivals import Arrivals, client_of
from tests.glass.browser import DEADLINE_S
from tests.glass.serving import glass_of_double
from tests.glass.test_looking import looked
from tests.glass.test_server import HEAD, get, opened


class Crowd:
    """Connections that are added to `Arrivals`, and those that it has dropped."""

    def __init__(self, **limits):
        self.arrivals = Arrivals(**limits)
        self.dropped = []
        self.leave = {}

    def add(self, name, peer):
        self.leave[name] = self.arrivals.add(peer, lambda: self.dropped.append(name))


def test_a_client_with_too_many_loses_its_own_oldest():
    crowd = Crowd(limit=10, of_client=2)
    crowd.add("other", "10.0.0.9")
    for name in "abc":
        crowd.add(name, "10.0.0.1")
    assert crowd.dropped == ["a"]
    assert len(crowd.arrivals) == 3


def test_where_all_places_are_taken_the_client_with_the_most_loses_one():
    crowd = Crowd(limit=4, of_client=3)
    for name, peer in [("a", "10.0.0.2"), ("b", "10.0.0.1"), ("c", "10.0.0.1"), ("d", "10.0.0.1")]:
        crowd.add(name, peer)
    crowd.add("e", "10.0.0.3")
    assert crowd.dropped == ["b"]
    assert len(crowd.arrivals) == 4


def test_a_connection_that_has_arrived_is_counted_no_more():
    crowd = Crowd(limit=10, of_client=1)
    crowd.add("a", "10.0.0.1")
    crowd.leave["a"]()
    crowd.add("b", "10.0.0.1")
    # It may leave twice: when its socket opens, and when it goes.
    crowd.leave["a"]()
    assert (crowd.dropped, len(crowd.arrivals)) == ([], 1)


@pytest.mark.parametrize(
    ("peer", "client"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:db8::1:2:3:4", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_a_client_is_an_address_or_a_prefix(peer, client):
    assert client_of(peer) == client


def test_a_silent_connection_is_closed_at_the_deadline():
    with (
        glass_of_double(host="0.0.0.0", arrival_timeout_s=0.05) as (glass, _),
        socket.create_connection(("127.0.0.1", glass.port), timeout=DEADLINE_S) as silent,
    ):
        silent.sendall(b"GET / HTTP/1.1\r\n")
        with contextlib.suppress(ConnectionResetError):
            assert silent.recv(1) == b""


def test_silent_connections_leave_the_page_to_others(monkeypatch):
    monkeypatch.setattr(arrivals, "ARRIVALS_OF_CLIENT_MAX", 8)
    with (
        glass_of_double(host="0.0.0.0", arrival_timeout_s=10 * DEADLINE_S) as (glass, _),
        contextlib.ExitStack() as stack,
    ):
        for _ in range(100):
            silent = socket.create_connection(("127.0.0.1", glass.port), timeout=DEADLINE_S)
            stack.enter_context(silent)
        assert get(glass, "/")[0] == 200
        with opened(glass) as page:
            assert HEAD.unpack_from(page.recv(timeout=DEADLINE_S))[0] == server.SCENE
        assert len(glass._arrivals) <= 8


def test_pages_of_one_address_leave_places_to_others(monkeypatch):
    monkeypatch.setattr(looking, "PAGES_OF_CLIENT_MAX", 2)
    with glass_of_double(host="0.0.0.0") as (glass, _), contextlib.ExitStack() as stack:
        for _ in range(2):
            page = stack.enter_context(looked(glass))
            page.recv(timeout=DEADLINE_S)
        with pytest.raises(InvalidStatus) as refused, looked(glass):
            pass
        assert refused.value.response.status_code == 503
        assert b"2 pages of 127.0.0.1 look already" in refused.value.response.body
        assert glass._crowded("10.9.9.9") is None
