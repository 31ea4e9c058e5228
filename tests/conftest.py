"""What every test has: a place of its own for saying which networks are up."""

import tempfile

import pytest


def pytest_configure(config):
    # Tests run side by side, and beside whatever else this machine has up.
    folder = tempfile.TemporaryDirectory(prefix="vitrine-run-")
    config.add_cleanup(folder.cleanup)
    patch = pytest.MonkeyPatch()
    config.add_cleanup(patch.undo)
    patch.setenv("VITRINE_RUN_DIR", folder.name)
