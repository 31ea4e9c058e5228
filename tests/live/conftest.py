"""Live tests build real network namespaces, so they need root; elsewhere they are skipped."""

from pathlib import Path

import pytest

from tests.live import isolation
from topo import preflight, wait
from topo.errors import MachineError

HERE = Path(__file__).parent


def _reason_not_to_run():
    try:
        preflight.check_machine()
    except MachineError as error:
        return str(error)
    return None


def pytest_collection_modifyitems(items):
    reason = _reason_not_to_run()
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.live)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish(session):
    """A process that is about to run live tests, a worker of xdist for one, is on its own."""
    runs_live = any(HERE in item.path.parents for item in session.items)
    if runs_live and not session.config.option.collectonly and _reason_not_to_run() is None:
        isolation.enter()


@pytest.fixture(scope="package", autouse=True)
def patience():
    """Deadlines for a busy machine, and no lab that waits for a calm one to repeat its runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VITRINE_PATIENCE", str(wait.patience() * 5))
        yield


@pytest.fixture(autouse=True)
def run_folder():
    with isolation.run_folder():
        yield


@pytest.fixture(autouse=True)
def nothing_is_left():
    """Every live test ends with the interfaces and the named namespaces it began with."""

    def there():
        interfaces = [device.name for device in Path("/sys/class/net").iterdir()]
        return sorted(interfaces), sorted(name.name for name in isolation.NETNS.iterdir())

    before = there()
    yield
    assert there() == before
