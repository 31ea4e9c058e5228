"""docs/tutorial.md typed block by block: what a reader does there, in its order, on real parts."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from controller.toolchain import ROOT
from tests.live import foreground
from topo import wait

TEXT = (ROOT / "docs" / "tutorial.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
PROMPT = "mininet> "
DEADLINE_S = 300


class Desk:
    """The reader's folder, which has all of the kit in it, and two terminals there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for entry in ROOT.iterdir():
            (folder / entry.name).symlink_to(entry)
        # `build/venv/bin/python` of the text is the one that runs this.
        (folder / "build").unlink()
        (folder / "build").mkdir()
        for entry in (ROOT / "build").iterdir():
            if entry.name != "venv":
                (folder / "build" / entry.name).symlink_to(entry)
        (folder / "build/venv/bin").mkdir(parents=True)
        (folder / "build/venv/bin/python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (folder / "build/venv/bin/python").chmod(0o755)
        self.env = dict(os.environ)
        self._up: subprocess.Popen | None = None
        self._said = folder / "prompt.txt"
        self._lines = 0

    # ---- the second terminal ---------------------------------------------------------------------

    def start(self, line: str) -> subprocess.Popen:
        """A line of the shell; of `vitrine`, what it runs, without looking at the set-up."""
        return foreground.start(
            ["bash", "-c", _RUN + line],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def shell(self, line: str) -> str:
        """The output of a line of the shell, once it has ended."""
        process = self.start(line)
        said, _ = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 0, said
        return said

    # ---- the first -------------------------------------------------------------------------------

    def up(self, line: str) -> None:
        """`vitrine up`, until its prompt takes lines."""
        assert line.startswith("vitrine up")
        with self._said.open("w") as output:
            self._up = foreground.start(
                ["bash", "-c", _RUN + line],
                cwd=self.folder,
                env=self.env,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
            )
        self.at_prompt("h1 true")

    def at_prompt(self, line: str) -> str:
        """The output of a line at Mininet's prompt."""
        assert self._up is not None
        self._lines += 1
        done = f"line {self._lines} is over"
        before = len(self._said.read_text())
        self._up.stdin.write(f"{line}\nh1 echo {done}\n")
        self._up.stdin.flush()

        def is_over() -> bool:
            assert self._up.poll() is None, self._said.read_text()
            return done in self._said.read_text()

        wait.until(is_over, f"the end of {line!r}", DEADLINE_S)
        return self._said.read_text()[before:]

    def down(self) -> None:
        """Ctrl-D at the prompt."""
        if self._up is not None and self._up.poll() is None:
            self._up.stdin.close()
            assert self._up.wait(timeout=DEADLINE_S) == 0, self._said.read_text()


# The command as the present user, in the Python that runs this.
_RUN = 'vitrine() { build/venv/bin/python -m vitrine "$@"; }\n'


@pytest.fixture
def desk(tmp_path):
    # The name that the text's folder has.
    (tmp_path / "vitrine").mkdir()
    made = Desk(tmp_path / "vitrine")
    yield made
    made.down()


class Pages:
    """The blocks of the text, one after the other."""

    def __init__(self) -> None:
        self._left = list(BLOCKS)

    def next(self, language: str) -> str:
        """The next block, which is of this language."""
        found, text = self._left.pop(0)
        assert found == language, text
        return text

    def lines(self) -> list[str]:
        """The lines of the next block of the shell."""
        return self.next("sh").splitlines()

    def are_over(self) -> bool:
        """Nothing is left to type."""
        return not self._left


def typed(line: str) -> str:
    """A line that the text shows behind the prompt."""
    assert line.startswith(PROMPT), line
    return line.removeprefix(PROMPT)


def words(text: str) -> str:
    """Without what is only layout."""
    return " ".join(text.split())


def while_traced(desk: Desk, trace: str, send: Callable[[], object]) -> str:
    """The output of `vitrine trace` for a packet that is sent once it follows."""
    process = desk.start(trace)
    first = process.stdout.readline()
    assert "following" in first, first + process.stdout.read()
    send()
    said, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0, said
    return said


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("tcpdump") is None, reason="tcpdump is not installed")
def test_what_the_tutorial_says_is_what_happens(desk):
    page = Pages()

    # 1. A router of one's own.
    (copy,) = page.lines()
    desk.shell(copy)
    my = desk.folder / "my.p4"
    include, call = page.next("p4"), page.next("p4")
    my.write_text(with_first(my.read_text(), include, call))
    (desk.folder / "first.p4").write_text(page.next("p4"))
    up, ping = page.lines()
    desk.up(up)
    assert "3 received, 0% packet loss" in desk.at_prompt(typed(ping))

    # 2. The counters.
    read = page.next("sh")
    assert desk.shell(read) == page.next("text")
    text = my.read_text().replace(call, "")
    routing = "            routing.apply(hdr, meta, standard_metadata);\n"
    assert routing in text
    my.write_text(text.replace(routing, call + routing))
    desk.shell("vitrine reload")
    desk.at_prompt(typed(ping))
    assert "64 (6, 588)" in desk.shell(read).splitlines()

    # 3. Marks.
    marking = page.next("p4")
    (desk.folder / "first.p4").write_text(marking)
    (reload,) = page.lines()
    assert re.fullmatch(r"s1 runs .*my\.p4\.?\n", desk.shell(reload))
    watch, pause, send, show = map(typed, page.lines())
    dump = desk.folder / "dump"
    for line in (watch, pause, send):
        desk.at_prompt(line.replace("/tmp/dump", str(dump)))
    show = show.replace("/tmp/dump", str(dump))
    wait.until(lambda: "udp" in desk.at_prompt(show).lower(), "tcpdump's words", DEADLINE_S)
    seen = desk.at_prompt(show)
    assert "tos 0xb8, ttl 63" in seen
    assert "bad cksum" not in seen

    # 4. One packet, step by step.
    (trace,) = page.lines()
    said = words(while_traced(desk, trace, lambda: desk.at_prompt(send)))
    for line in page.next("text").splitlines():
        if line.strip() != "...":
            assert words(line) in said, said

    # 5. A controller.
    entries = re.search(r"^ *const entries = .*\n", marking, re.M)[0]
    (desk.folder / "first.p4").write_text(marking.replace(entries, ""))
    desk.shell(reload)
    script = page.next("python")
    (desk.folder / "mark.py").write_text(script)
    (mark,) = page.lines()
    assert desk.shell(mark) == ""
    marked = while_traced(desk, trace, lambda: desk.at_prompt(send))
    assert "ipv4.dscp: 0 -> 46" in marked

    # 6. INT.
    desk.down()
    copy, up, *collect = page.lines()
    desk.shell(copy)
    my_int = desk.folder / "my_int.p4"
    my_int.write_text(with_first(my_int.read_text(), include, call))
    desk.up(up)
    reports = str(desk.folder / "reports")
    listen, listens = (typed(line).replace("/tmp/reports", reports) for line in collect)
    desk.at_prompt(listen)
    listening = "reports on udp 0.0.0.0:32766"
    wait.until(lambda: listening in desk.at_prompt(listens), "the collector", DEADLINE_S)
    mark, trace = page.lines()
    desk.shell(mark)
    send, pause, show = (typed(line).replace("/tmp/reports", reports) for line in page.lines())
    given_back = while_traced(desk, trace, lambda: desk.at_prompt(send))
    desk.at_prompt(pause)
    shown = page.next("text")
    assert shown.startswith(listening)
    assert words(shown) in words(desk.at_prompt(show))
    assert words(page.next("text")) in words(given_back), given_back
    assert page.are_over()


def with_first(program: str, include: str, call: str) -> str:
    """The program with the two lines where the text puts them."""
    last = [line for line in program.splitlines(True) if line.startswith("#include")][-1]
    behind = "            classify.apply(hdr, meta, standard_metadata);\n"
    assert behind in program
    return program.replace(last, last + include).replace(behind, behind + call)
