"""Classes that do harm are graded for what they decide, and do none.

Each of them is the right arbiter, and tries something on its way.
"""

import tempfile
from pathlib import Path

import pytest

from course import catalogue
from course.exercise import SOLUTIONS
from course.grading.jailed import JailedRunner
from course.judge import judge

RIGHT = SOLUTIONS / "head-of-line" / "right" / "arbiter.py"
EXERCISE = catalogue.find("head-of-line")

# What is tried; `got(...)` says loudly that it worked, by deciding nothing.
TRIES = {
    "forks without end": """
import os, signal
try:
    while True:
        if os.fork() == 0:
            signal.pause()
except OSError:
    pass
""",
    "fills the disk": """
import os
for folder in ("/tmp", "/dev/shm", os.path.dirname(__file__), os.getcwd()):
    try:
        open(os.path.join(folder, "filled"), "wb").write(bytes(1 << 20))
        got()
    except OSError:
        pass
""",
    "reads the solution": f"""
try:
    open({str(RIGHT)!r})
    got()
except OSError:
    pass
try:
    import course
    got()
except (ImportError, OSError):
    pass
""",
    "kills its parent": """
import os, signal
for victim in (os.getppid(), -1, -os.getpgid(0)):
    try:
        if victim:
            os.kill(victim, signal.SIGKILL)
    except OSError:
        pass
""",
    "prints a result": """
import os
print('{"run": "fabric", "throughput": 1.0, "conserved": true}', flush=True)
os.write(1, b'{"throughput": 1.0}')
""",
    "calls home": """
import socket
try:
    socket.create_connection(("127.0.0.1", 22), 1)
    got()
except OSError:
    pass
""",
}


@pytest.fixture
def folder():
    """A folder that a program without rights may read."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("what", TRIES)
def test_it_gets_its_points_and_does_no_harm(what, folder):
    got = "def got():\n    global Islip\n    raise SystemExit('it worked')\n"
    file = folder / "arbiter.py"
    file.write_text(got + TRIES[what] + RIGHT.read_text())
    file.chmod(0o644)
    runner = JailedRunner()
    runner.check()
    judgement = judge(
        EXERCISE, folder, seed="test", runner=runner, only=["islip-one-round"], secret="s"
    )
    assert judgement.verdicts[0].story is None, judgement.verdicts[0].story
    assert not [each for each in Path("/tmp").glob("filled")]
