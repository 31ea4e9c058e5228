"""What every test has: a folder of its own that says which networks are up."""

import tempfile

import pytest


def pytest_configure(config):
    # Tests run side by side, and beside any other network on this machine.
    folder = tempfile.TemporaryDirectory(prefix="vitrine-run-")
    config.add_cleanup(folder.cleanup)
    patch = pytest.MonkeyPatch()
    config.add_cleanup(patch.undo)
    patch.setenv("VITRINE_RUN_DIR", folder.name)
