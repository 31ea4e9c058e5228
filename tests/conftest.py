"""Shared by all tests: where networks are found, one browser per process, a terminal's signals."""

import asyncio
import signal
import tempfile

import pytest

from tests import budget
from tests.glass.browser import browser, loop_of


def pytest_addoption(parser):
    told = "fails a run of a whole tier that uses more than this file says"
    parser.addoption("--budget", metavar="FILE", help=told)


def pytest_configure(config):
    config.pluginmanager.register(budget.Plugin(config))
    # Tests run side by side, and beside any other network on this machine.
    folder = tempfile.TemporaryDirectory(prefix="vitrine-run-")
    config.add_cleanup(folder.cleanup)
    patch = pytest.MonkeyPatch()
    config.add_cleanup(patch.undo)
    patch.setenv("VITRINE_RUN_DIR", folder.name)


@pytest.fixture(scope="session")
def only_chromium():
    """The browser itself, for fixtures of a wider scope; they use it within `loop_of`."""
    with browser() as started:
        asyncio._set_running_loop(None)
        yield started
        asyncio._set_running_loop(started._loop)


@pytest.fixture
def chromium(only_chromium):
    """The browser of all tests of this process; pages go into contexts of their own."""
    with loop_of(only_chromium):
        yield only_chromium


@pytest.fixture
def heeded_signals():
    """SIGINT and SIGHUP reach what a test starts, also if the tests themselves ignore them.

    nohup ignores SIGHUP, a shell's background SIGINT, and a child inherits that. A handler it does
    not inherit, so a handler that does nothing serves both.
    """
    ignored = [
        number
        for number in (signal.SIGINT, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_IGN
    ]
    for number in ignored:
        signal.signal(number, lambda *_: None)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
