"""Services of the kit that have run out of connections, descriptors or threads: a polite client is
served, or refused in a sentence, and what was used up is free again afterwards."""

import contextlib
import http.client
import socket
from pathlib import Path

import pytest

from controller import http_server
from tests.process.exhausted import running
from topo import wait

# A machine three times as slow, and busy.
DEADLINE_S = 120
SILENT = 150


def answer(port, path):
    """Status and text of a polite client's request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
    with contextlib.closing(connection):
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read()


@contextlib.contextmanager
def silent_connections(port):
    """Connections that send the beginning of a request, and nothing more."""
    with contextlib.ExitStack() as stack:
        for _ in range(SILENT):
            silent = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S)
            stack.enter_context(silent)
            with contextlib.suppress(ConnectionError):
                silent.sendall(b"GET / HTTP/1.1\r\n")
        yield


def in_use(pid, what):
    """How many descriptors, or threads, a process has."""
    folder = {"descriptors": "fd", "threads": "task"}[what]
    return sum(1 for _ in Path(f"/proc/{pid}/{folder}").iterdir())


@pytest.mark.parametrize(
    ("service", "path", "what", "limit", "statuses"),
    [
        ("metrics", "/live", "descriptors", 200, {200}),
        ("metrics", "/live", "descriptors", 12, {200}),
        ("metrics", "/live", "threads", 3, {200, 503}),
        ("glass", "/schema", "descriptors", 400, {200}),
        ("glass", "/schema", "descriptors", 24, {200}),
    ],
)
def test_a_polite_client_is_answered_beside_silent_ones(service, path, what, limit, statuses):
    with running(service, what, limit) as (pid, port):
        assert answer(port, path)[0] == 200
        before = in_use(pid, what)
        with silent_connections(port):
            status, text = answer(port, path)
            assert status in statuses
            assert status == 200 or b"try again later" in text
            if (service, what, limit) == ("metrics", "descriptors", 200):
                # The polite client's own connection may still be closing.
                most = before + http_server.CONNECTIONS_MAX + 1
                wait.until(lambda: in_use(pid, what) <= most, "close the oldest", DEADLINE_S)
        wait.until(lambda: in_use(pid, what) <= before, f"free {what}", DEADLINE_S)
        assert answer(port, path)[0] == 200
