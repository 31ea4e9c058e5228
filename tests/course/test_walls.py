"""Ways out of the jail that open no file, which Landlock therefore lets pass."""

import os
import socket
import sys
import tempfile
from pathlib import Path

import pytest

from course.grading.jailed import JailedRunner

# Both kinds of jail.
KINDS = pytest.mark.parametrize("in_container", [False, True], ids=["namespaces", "container"])
NOBODY = 65534


@pytest.fixture
def folder():
    """A folder that a program without rights may read, and whose owner it is."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def run(folder, script, *, in_container=False):
    """The output of a script in the jail."""
    (folder / "script.py").write_text(script)
    argv = [sys.executable, "-S", str(folder / "script.py")]
    done = JailedRunner(in_container=in_container).run(argv, readable=[folder])
    assert done.status == 0, done.errors
    return done.output.splitlines()


@KINDS
def test_no_program_reaches_a_socket_of_this_machine(in_container, folder):
    """A teacher's session bus or agent would do whatever it is asked to."""
    with socket.socket(socket.AF_UNIX) as bus:
        bus.bind(str(folder / "bus"))
        (folder / "bus").chmod(0o777)
        bus.listen()
        script = f"""
import socket
for kind in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
    try:
        made = socket.socket(kind)
        print("made", kind)
        made.connect({str(folder / "bus")!r})
        print("connected")
    except OSError:
        pass
"""
        assert run(folder, script, in_container=in_container) == []


def test_files_of_the_grader_s_user_keep_their_rights_and_times(folder):
    """Where the grader is not root, a program has its user: it could close the results' folder."""
    theirs = folder / "grades.csv"
    theirs.write_text("points")
    if os.geteuid() == 0:
        os.chown(theirs, NOBODY, NOBODY)
    before = theirs.stat()
    script = f"""
import os
file = {str(theirs)!r}
for change in (
    lambda: os.chmod(file, 0),
    lambda: os.chown(file, os.getuid(), os.getgid()),
    lambda: os.utime(file, (0, 0)),
    lambda: os.setxattr(file, "user.note", b"mine"),
):
    try:
        change()
        print("changed")
    except OSError:
        pass
"""
    assert run(folder, script) == []
    after = theirs.stat()
    assert (after.st_mode, after.st_mtime) == (before.st_mode, before.st_mtime)


@KINDS
def test_no_memory_is_taken_that_the_limit_does_not_see(in_container, folder):
    """Shared memory is nobody's own, and stays after `MADV_DONTNEED` has taken it out of sight."""
    script = """
import mmap
for flags in (mmap.MAP_SHARED, 3):
    try:
        mmap.mmap(-1, 1 << 20, flags=flags | mmap.MAP_ANONYMOUS)
        print("shared")
    except OSError:
        pass
mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
print("private")
"""
    assert run(folder, script, in_container=in_container) == ["private"]
