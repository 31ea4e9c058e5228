"""The process in which a class decides: its input, and the questions that it wants."""

import json
import os
import random
import struct
import subprocess
import sys

import pytest

from insides import Aqm, host
from insides.examples.codel import CoDel
from tests.bench import insides as bench

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has something to give up")


class Echo:
    """An arbiter that keeps its questions."""

    def match(self, asks, now):
        self.asked = asks, now
        return []


@pytest.mark.parametrize("ports", [1, 5, 8, 9, 16, 20, 128])
def test_an_arbiter_gets_the_inputs_that_ask_for_each_output(ports):
    dice, arbiter = random.Random(ports), Echo()
    sets = [dice.getrandbits(ports) for _ in range(ports)]
    body = b"M" + struct.pack("<QH", 7, ports)
    body += b"".join(each.to_bytes(16, "little") for each in sets)
    assert host._arbiter(arbiter)(body) == b""
    asks, now = arbiter.asked
    assert now == 7
    wanted = [[port for port in range(ports) if each >> port & 1] for each in sets]
    assert [list(each) for each in asks] == wanted


def test_an_aqm_is_asked_only_what_it_has_a_method_for():
    class Arrivals(Aqm):
        def arrival(self, packet, now):
            return 0

    assert [host._questions(each)[0] for each in (Aqm, Arrivals, CoDel)] == [0, 1, 2]


def test_frames_are_read_wherever_the_pipe_breaks_them():
    bodies = [b"", b"one", bytes(70_000), b"two"]
    told = b"".join(struct.pack("<I", len(body)) + body for body in bodies)
    for cut in (1, 3, 4, 5, 9, len(told) - 1):
        pipe = host._Pipe.__new__(host._Pipe)
        pipe._waiting, pipe._at = b"", 0
        pipe._input, writing = os.pipe()
        found = []
        try:
            for part in (told[:cut], told[cut:]):
                # Less than a pipe holds, so nothing waits.
                for at in range(0, len(part), 30_000):
                    os.write(writing, part[at : at + 30_000])
                    if at + 30_000 < len(part):
                        pipe._waiting += os.read(pipe._input, 30_000)
            os.close(writing)
            while (body := pipe.read()) is not None:
                found.append(body)
        finally:
            os.close(pipe._input)
        assert found == bodies


@pytest.mark.parametrize("subject", bench.SUBJECTS, ids=lambda each: each.title)
def test_the_benchmark_asks_each_class_often_enough(subject):
    assert bench.measure(subject, count=20) > 0


@as_root
@pytest.mark.parametrize(("sudo", "ids"), [({}, 65534), ({"SUDO_UID": "7", "SUDO_GID": "7"}, 7)])
def test_a_class_never_runs_as_root(sudo, ids, tmp_path):
    file = tmp_path / "curious.py"
    file.write_text("import os\nraise ValueError(os.getresuid(), os.getresgid(), os.getgroups())\n")
    said = begun(file, sudo)
    assert f"ValueError: (({ids}, {ids}, {ids}), ({ids}, {ids}, {ids}), [])" in said
    # Its file is in a folder of root's, but its author still sees the line.
    assert "raise ValueError(os.getresuid()" in said


@as_root
def test_a_class_in_a_folder_of_roots_imports_what_lies_beside_it(tmp_path):
    (tmp_path / "home").mkdir(mode=0o700)
    folder = tmp_path / "home" / "lab"
    folder.mkdir()
    (folder / "beside.py").write_text("HERE = 'what lies beside it'\n")
    file = folder / "curious.py"
    file.write_text("import beside\nraise ValueError(beside.HERE)\n")
    assert "ValueError: what lies beside it" in begun(file, {})


def begun(file, sudo):
    """The process's answer to the first request, with a class named Curious."""
    begin = b"B" + json.dumps({"kind": "Arbiter", "ports": 2, "iterations": 1, "seed": 1}).encode()
    environment = {name: value for name, value in os.environ.items() if "SUDO" not in name}
    done = subprocess.run(
        [sys.executable, "-m", "insides.host", file, "Curious"],
        input=struct.pack("<I", len(begin)) + begin,
        capture_output=True,
        env=environment | sudo,
        timeout=120,
        check=True,
    )
    return done.stdout.decode(errors="replace")
