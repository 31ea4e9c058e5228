"""`make test` runs all its parts, whatever fails, and ends all of them when it is interrupted."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from topo import wait

ROOT = Path(__file__).parents[2]
PARTS = ("lint", "rust", "live", "python")


@pytest.fixture
def kit(tmp_path):
    """The script, and parts that only say their name; tests replace some."""
    for file in ("tests/all.sh", "vm/say.sh"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    for part in PARTS:
        replace(tmp_path, part, f"echo {part} ran")
    return tmp_path


def replace(kit, part, text):
    script = kit / f"tests/{part}.sh"
    script.write_text(f"#!/bin/bash\n{text}\n")
    script.chmod(0o755)


def test_a_part_that_fails_is_shown_and_stops_no_other(kit):
    replace(kit, "rust", "echo the cause; exit 3")
    replace(kit, "live", "echo '0.50s call tests/live/a.py::b'")
    replace(kit, "python", "echo '10.25s call tests/c.py::d'")
    done = subprocess.run(["tests/all.sh"], cwd=kit, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == "the cause\n"
    said = done.stderr.splitlines()
    assert [line.split()[:2] for line in said[-4:]].count(["rust", "FAILED"]) == 1
    assert sum(line.split()[1] == "ok" for line in said[-4:]) == 3
    # The slowest first, as a number and not as text.
    assert said[-7:-5] == ["10.25s call tests/c.py::d", "0.50s call tests/live/a.py::b"]
    assert (kit / "build/log/test-lint.log").read_text() == "lint ran\n"


def test_parts_run_side_by_side_and_an_interruption_ends_them(kit):
    for part in ("lint", "live"):
        replace(kit, part, f"echo $$ >{part}.pid; exec tail -f /dev/null")
    pids = [kit / f"tests/{part}.pid" for part in ("lint", "live")]
    with subprocess.Popen(["tests/all.sh"], cwd=kit, stderr=subprocess.DEVNULL) as process:
        for file in pids:
            wait.until(lambda file=file: file.exists() and file.read_text(), "a part", 60)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 143
    for file in pids:
        pid = file.read_text().strip()
        wait.until(lambda pid=pid: not Path("/proc", pid).exists(), "the end of a part", 60)
