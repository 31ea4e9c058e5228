"""Signals that end a program, and those that do not."""

import os
import signal
import sys
import threading

import pytest

from topo import ending


@pytest.fixture(autouse=True)
def nothing_ignored():
    """As in a terminal, also where the tests themselves run under nohup or in the background."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in ending.ENDING}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ending.ENDING)
def test_a_signal_leaves_through_with_blocks(number):
    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as left, ending.as_exit():
        os.kill(os.getpid(), number)
    assert left.value.code == 128 + number
    assert signal.getsignal(number) is before


class Vanishing:
    """Gets a signal where exceptions are dropped."""

    def __init__(self, number):
        self._number = number

    def __del__(self):
        os.kill(os.getpid(), self._number)


@pytest.mark.parametrize("number", [signal.SIGINT, *ending.ENDING])
def test_a_signal_whose_exception_was_dropped_comes_once_more(number):
    with pytest.raises((KeyboardInterrupt, SystemExit)), ending.as_exit():
        Vanishing(number)
        threading.Event().wait(30)


def test_it_comes_also_where_a_busy_machine_starts_threads_slowly(monkeypatch):
    start = threading.Thread.start

    def slow(thread):
        start(thread)
        # Until long after the signal would have come, and be lost.
        threading.Event().wait(4 * ending._AGAIN_S)

    monkeypatch.setattr(threading.Thread, "start", slow)
    with pytest.raises(KeyboardInterrupt), ending.as_exit():
        Vanishing(signal.SIGINT)
        threading.Event().wait(30)


def test_what_else_is_dropped_is_told_as_ever(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda dropped: told.append(dropped.exc_type))

    class Failing:
        def __del__(self):
            raise ValueError

    with ending.as_exit():
        Failing()
    assert told == [ValueError]


def test_what_nohup_ignores_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ending.as_exit():
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_waits_until_it_is_no_longer_held():
    reached = []
    with pytest.raises(SystemExit), ending.as_exit():
        with ending.held():
            os.kill(os.getpid(), signal.SIGTERM)
            reached.append("cleaned up")
        reached.append("gone on")
    assert reached == ["cleaned up"]


def test_it_waits_also_where_another_thread_takes_it():
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    reached = []
    with pytest.raises(SystemExit), ending.as_exit():
        with ending.held():
            os.kill(os.getpid(), signal.SIGTERM)
            # The thread cannot end without having taken the signal.
            end.set()
            thread.join()
            reached.append("cleaned up")
        reached.append("gone on")
    assert reached == ["cleaned up"]
