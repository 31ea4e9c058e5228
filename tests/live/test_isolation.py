"""Live tests neither disturb the network of the machine nor are disturbed by it."""

import os
from pathlib import Path

from tests.live import isolation


def test_live_tests_run_in_namespaces_of_their_own():
    for kind in ("net", "mnt"):
        own, parents = (Path(f"/proc/{pid}/ns/{kind}").readlink() for pid in ("self", os.getppid()))
        assert own != parents


def test_only_their_own_devices_and_named_namespaces_are_there():
    outside = Path(f"/proc/{os.getppid()}/net/dev").read_text()
    here = {device.name for device in Path("/sys/class/net").iterdir()}
    assert "eth0:" not in outside or "eth0" not in here
    assert Path("/sys/class/net/lo/operstate").exists()
    assert not list(isolation.NETNS.iterdir())
