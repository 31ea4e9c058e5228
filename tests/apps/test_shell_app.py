"""`make shell`: the p4lang project's shell, connected to a router that runs."""

import subprocess
import sys

import pytest

from controller.p4info import P4Info
from controller.session import Session
from tests.controller import real_switch
from tests.controller.real_switch import PROGRAM, PROGRAM_INFO, ROOT, RealSwitch
from topo import wait

pytestmark = real_switch.needed


def run_shell(address, text):
    return subprocess.run(
        [sys.executable, "-m", "vitrine", "shell", "--router", address],
        input=text,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("at_socket", [False, True])
def test_the_shell_knows_the_routers_tables_and_gives_the_primary_role_back(tmp_path, at_socket):
    switch = RealSwitch(tmp_path, device_id=2, at_socket=at_socket)
    try:
        with Session.connect(switch.address, device_id=2) as session:
            session.load(P4Info.load(PROGRAM_INFO), PROGRAM.read_bytes())
            shell = run_shell(switch.address, "tables\nexit\n")
            assert "ingress.routing.ipv4_routes" in shell.stdout
            wait.until(lambda: session.primary().is_us, "the return of the role", 60)
            session.insert([])
    finally:
        switch.end()


def test_without_a_router_one_sentence_says_so():
    shell = run_shell("127.0.0.1:9", "")
    assert shell.returncode == 1
    assert shell.stderr.startswith("vitrine: nothing answers at 127.0.0.1:9")
