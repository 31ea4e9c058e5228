"""Programs started by hand in a host are ended and named when its network goes."""

import subprocess
from pathlib import Path

import pytest

from labs.worlds.live import leftovers
from topo import wait

UNSHARE = ["unshare", "--user", "--map-root-user", "--net"]


def _can_unshare():
    return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _can_unshare(), reason="no network namespaces for users here")
def test_a_program_in_a_host_is_ended_and_named():
    # The shell of a host, and a daemon that a user started in it.
    host = subprocess.Popen([*UNSHARE, "sh", "-c", "tail -f /dev/null & echo $!; cat"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
    try:
        daemon = int(host.stdout.readline())
        name = Path(f"/proc/{daemon}/comm")
        wait.until(lambda: name.read_text() == "tail\n", "the start of the daemon", 60)
        said = leftovers.end_all({"h1": host.pid})
        assert f"tail (process {daemon}) in h1" in said
        wait.until(lambda: leftovers.end_all({"h1": host.pid}) == [], "an empty host", 60)
    finally:
        host.kill()
        host.communicate()
