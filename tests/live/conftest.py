"""Live tests build real network namespaces, so they need root; elsewhere they are skipped."""

import subprocess
from pathlib import Path

import pytest

from topo import preflight
from topo.errors import MachineError


def _reason_not_to_run():
    try:
        preflight.check_machine()
    except MachineError as error:
        return str(error)
    return None


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    reason = _reason_not_to_run()
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.live)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def nothing_is_left():
    """Every live test ends with the interfaces it began with."""

    def interfaces():
        return subprocess.run(["ip", "-br", "link"], capture_output=True, text=True).stdout.split()

    before = interfaces()
    yield
    assert interfaces() == before
