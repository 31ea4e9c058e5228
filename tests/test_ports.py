"""Ports for servers of tests: free, one's own, and not the kernel's to give away."""

import socket
import subprocess
import sys
from pathlib import Path

from controller.toolchain import ROOT
from tests.ports import BLOCK, END, free_port


def test_a_port_is_free_and_comes_again_only_after_all_others():
    found = [free_port() for _ in range(BLOCK // 2)]
    assert len(set(found)) == len(found)
    for port in found[:3]:
        socket.create_server(("127.0.0.1", port)).close()


def test_a_port_that_is_in_use_is_passed_over():
    with socket.create_server(("127.0.0.1", free_port())) as taken:
        port = taken.getsockname()[1]
        assert port not in {free_port() for _ in range(2 * BLOCK)}


def test_another_process_has_other_ports():
    ask = [sys.executable, "-c", "from tests.ports import free_port; print(free_port())"]
    theirs = int(subprocess.run(ask, cwd=ROOT, capture_output=True, check=True).stdout)
    assert theirs // BLOCK != free_port() // BLOCK


def test_no_connection_gets_one_of_them():
    first, _ = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    assert int(first) >= END
