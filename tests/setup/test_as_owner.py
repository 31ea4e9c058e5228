"""Commands about the network that is up ask for root only where it is a live one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from controller.toolchain import ROOT


def ran(tmp_path: Path) -> str:
    """What `echo hello` prints for a user, with a sudo that says that it was asked."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in {"id": "echo 1000", "sudo": 'echo "sudo: ${@: -2}"'}.items():
        (programs / name).write_text(f"#!/bin/bash\n{text}\n")
        (programs / name).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    run = subprocess.run(
        ["vm/as_owner.sh", "echo", "hello"],
        cwd=ROOT,
        env={**os.environ, "PATH": path, "VITRINE_RUN_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout


def test_a_network_in_virtual_time_asks_for_no_root(tmp_path):
    (tmp_path / "reload.sock").touch()
    assert ran(tmp_path) == "hello\n"


def test_a_live_network_asks_for_root(tmp_path):
    (tmp_path / "network.json").write_text("{}")
    assert ran(tmp_path) == "sudo: echo hello\n"
