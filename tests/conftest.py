"""Shared by all tests: a folder that says which networks are up, and one browser per process."""

import asyncio
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
