"""What every test has: a place of its own that says what networks are up; and which have failed."""

import os
import tempfile
from pathlib import Path

import pytest


def pytest_configure(config):
    # Tests run side by side, and beside whatever else this machine has up.
    folder = tempfile.TemporaryDirectory(prefix="vitrine-run-")
    config.add_cleanup(folder.cleanup)
    patch = pytest.MonkeyPatch()
    config.add_cleanup(patch.undo)
    patch.setenv("VITRINE_RUN_DIR", folder.name)


def pytest_terminal_summary(terminalreporter):
    # For tests/pytest.sh, which runs them once more.
    if "VITRINE_FAILED" in os.environ:
        told = terminalreporter.getreports("failed") + terminalreporter.getreports("error")
        names = sorted({each.nodeid for each in told})
        Path(os.environ["VITRINE_FAILED"]).write_text("".join(f"{name}\n" for name in names))
