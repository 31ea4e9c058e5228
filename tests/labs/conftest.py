"""Tests of the virtual world need the program that it lives in."""

import subprocess

import pytest

from labs.worlds.virtual.server import BINARY


def pytest_collection_modifyitems(items):
    virtual = [item for item in items if "test_virtual_" in item.path.name]
    worlds = [item for item in virtual if item.path.stem.endswith(("_labs", "_prompt", "_sweeps"))]
    if worlds and not _can_serve():
        for item in worlds:
            item.add_marker(pytest.mark.skip(reason=f"{BINARY} has no `serve`: run make build"))


def _can_serve():
    return subprocess.run([BINARY, "serve", "--help"], capture_output=True).returncode == 0
