"""Shared by all tests: where they find networks, one browser per process, signals as in a terminal."""

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
def _only_chromium():
    with browser() as started:
        asyncio._set_running_loop(None)
        yield started
        asyncio._set_running_loop(started._loop)


@pytest.fixture
def chromium(_only_chromium):
    """The browser of all tests of this process; pages go into contexts of their own."""
    with loop_of(_only_chromium):
        yield _only_chromium


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
