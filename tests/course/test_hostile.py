"""Harmful submissions are graded by their decisions, and do no harm.

Each of them is a right one, and tries something on its way: in the host of a decision, of TCP, of
a search and of a control plane.
"""

import shutil
import tempfile
from pathlib import Path

import pytest

from course import catalogue
from course.exercise import SOLUTIONS
from course.grading.jailed import JailedRunner
from course.judge import judge

# Exercises whose submissions run in Python, each in a host of its own: the file and a quick case.
HOSTS = {
    "head-of-line": ("arbiter.py", "islip-one-round"),
    "own-tcp": ("tcp.py", "slow-start"),
    "who-filled-the-queue": ("culprit.py", "alone"),
    "control-plane": ("control.py", "arp"),
}
every_host = pytest.mark.parametrize("name", HOSTS)
SOLUTION = SOLUTIONS / "head-of-line" / "right" / "arbiter.py"

# The attacks; `got(...)` reports success loudly, by deciding nothing.
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
    open({str(SOLUTION)!r})
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
for victim in (os.getppid(), -1):
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


@pytest.fixture
def runner():
    runner = JailedRunner()
    runner.check()
    return runner


def hand_in(folder, name, harm):
    """The right submission, with something before it."""
    exercise = catalogue.find(name)
    for file in exercise.files:
        shutil.copy(exercise.start / file, folder / file)
    file = folder / HOSTS[name][0]
    file.write_text(harm + (SOLUTIONS / name / "right" / file.name).read_text())


def judged(folder, name, runner):
    (verdict,) = judge(
        catalogue.find(name),
        folder,
        seed="test",
        runner=runner,
        only=[HOSTS[name][1]],
        secret="s",
    ).verdicts
    return verdict


def harms():
    """Each harm in each host; `make test` tries each harm in one host, in turns."""
    for place, what in enumerate(TRIES):
        for number, name in enumerate(HOSTS):
            marks = () if number == place % len(HOSTS) else (pytest.mark.nightly,)
            yield pytest.param(what, name, id=f"{what}-{name}", marks=marks)


@pytest.mark.parametrize(("what", "name"), harms())
def test_it_gets_its_points_and_does_no_harm(name, what, folder, runner):
    hand_in(folder, name, "def got():\n    raise SystemExit('it worked')\n" + TRIES[what])
    verdict = judged(folder, name, runner)
    assert verdict.story is None, verdict.story
    assert not [each for each in Path("/tmp").glob("filled")]


@every_host
def test_what_computes_for_ever_uses_up_its_own_budget(name, folder, runner):
    hand_in(folder, name, "while True:\n    pass\n")
    # So little that a busy machine gives as much before the host's own limit of 20 s.
    limited = runner.with_account(folder.parent / f"{folder.name}.account", 0.6)
    story = judged(folder, name, limited).story
    assert "less than 1 s of processor time" in story.expected
    assert "keep their points" in story.came


# Lines that the host of a search or of a control plane never writes.
LINES = {
    "brackets": "'[' * 200000",
    "other types": """'{"found": [["s1"], {}, [1], null], "done": 1}'""",
    "infinite": """'{"found": [1, 2, 3, 1e999], "done": [{"port": 1e999, "frame": ""}]}'""",
}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ["who-filled-the-queue", "control-plane"])
def test_a_line_that_a_submission_writes_to_the_pipe_is_its_own_mistake(name, line, folder, runner):
    writes = f"""
import os
for number in range(3, 20):
    try:
        os.write(number, {LINES[line]}.encode() + b"\\n")
    except OSError:
        pass
"""
    hand_in(folder, name, writes)
    story = judged(folder, name, runner).story
    assert story is not None and "The check broke" not in story.came
