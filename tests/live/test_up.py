"""`vitrine up FILE`: Mininet's prompt on any topology, and nothing left behind."""

import subprocess
import sys

from controller import routers
from controller.toolchain import ROOT
from tests.live.test_two_routers import TOPOLOGY
from topo import record


def prompt(file, commands):
    return subprocess.run(
        [sys.executable, "-m", "vitrine", "up", str(file), "--world=live"],
        input=commands,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
        check=False,
    )


def test_the_prompt_knows_the_hosts_of_the_file_and_leaves_nothing(tmp_path):
    file = tmp_path / "two.yaml"
    file.write_text(TOPOLOGY)
    done = prompt(file, "h1 ping -c 1 h2\nexit\n")
    assert done.returncode == 0, done.stderr
    assert f"s2: P4Runtime and vitrine.v1 on unix:{routers.folder()}/s2.sock" in done.stdout
    assert "port 2 to s2 port 1, 10 Mb/s" in done.stdout
    # Two routers take one each of 64. Mininet prints through its log, which goes to stderr.
    assert "ttl=62" in done.stdout + done.stderr
    assert not record.interface_exists("s1-eth1")


def test_a_mistake_in_the_file_is_said_with_its_line_before_anything_is_built(tmp_path):
    file = tmp_path / "wrong.yaml"
    file.write_text(TOPOLOGY.replace("queue: 20 packets", "queue: 20"))
    done = prompt(file, "")
    assert done.returncode == 1
    assert "wrong.yaml:12: switches.s1.ports.2.queue: '20' is not a limit" in done.stderr
    assert not list(routers.folder().iterdir())
