"""Datagrams are sent at the requested instants, and late senders are named."""

import socket
from types import SimpleNamespace

import pytest

from labs.worlds.live import datagrams
from labs.worlds.live.bursts import lateness
from topo import wait

# Some a tenth of a millisecond apart, which a loop that looks again every 10 ms would send as one.
INSTANTS_S = [10.0, 10.0001, 10.0042, 10.0171, 10.01715, 10.5]


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only while a thread sleeps, and then exactly."""
    now = SimpleNamespace(s=9.0)

    def pass_by(seconds):
        now.s += seconds

    fake = SimpleNamespace(monotonic=lambda: now.s, sleep=pass_by)
    monkeypatch.setattr(wait, "time", fake)
    monkeypatch.setattr(datagrams, "time", fake)


def test_each_burst_leaves_at_its_instant(clock, capsys):
    """Looked for every 10 ms, Poisson traffic would leave in clumps, and clumps fill queues."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        datagrams._send(*receiver.getsockname(), 100, 1, INSTANTS_S)
    assert datagrams.went_out(capsys.readouterr().out) == pytest.approx(INSTANTS_S, abs=1e-9)


def test_who_was_punctual_is_not_spoken_of():
    # One of a hundred late, the others by less than a frame takes.
    due_s = [float(instant) for instant in range(100)]
    sent_s = [due + 0.0001 for due in due_s[:-1]] + [due_s[-1] + 0.004]
    assert lateness("h1", due_s, sent_s) == ""


def test_who_was_late_is_named():
    due_s, sent_s = [1.0, 2.0, 3.0, 4.0], [1.0, 2.012, 3.0, 4.0]
    said = "h2 sent 25% of its bursts more than 1 ms late, one of them by 12 ms"
    assert lateness("h2", due_s, sent_s).startswith(said)
