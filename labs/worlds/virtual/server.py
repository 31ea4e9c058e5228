"""The process that a network in virtual time lives in: `vitrine-sim serve`, as a child of ours."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from controller.addresses import at_socket, unused_socket
from controller.ownership import open_no_link
from controller.toolchain import ROOT
from labs.classes import environment as classes_environment
from labs.errors import SilenceError

BINARY = ROOT / "build" / "bin" / "vitrine-sim"
_END_DEADLINE_S = 5.0


@contextlib.contextmanager
def serving(
    log: Path,
    place: str | None = None,
    *,
    classes: Iterable[Path] = (),
    environment: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """A world that has no network yet, for the length of a `with` block; its address.

    Without a `place` that is a socket of its own, at which nobody else gets in. Python classes of
    files in the folders `classes` may decide in it, run as VITRINE_PYTHON in the `environment`
    says.
    """
    if not os.access(BINARY, os.X_OK):
        raise SilenceError(f"there is no {BINARY}: run `make build` first.")
    log.parent.mkdir(parents=True, exist_ok=True)
    own = unused_socket(Path(tempfile.gettempdir()), "vitrine")
    # Its input is a pipe that we alone hold: however we end, it ends too, and its socket goes.
    argv = [str(BINARY), "serve", "--end-with-input", "--grpc", place or at_socket(own)]
    argv += [word for folder in sorted(classes) for word in ("--classes", str(folder))]
    with open(log, "w", opener=open_no_link) as errors:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**classes_environment(), **(environment or {})},
            # Ctrl-C at the terminal is ours; we end the child when we have kept what there is.
            start_new_session=True,
        )
    try:
        yield _address(child, log)
    finally:
        _end(child)


def _address(child: subprocess.Popen[str], log: Path) -> str:
    assert child.stdout is not None, "it was asked for"
    # Its first line says where it answers; without one it has ended.
    line = child.stdout.readline()
    if not line:
        child.wait(_END_DEADLINE_S)
        words = " / ".join(log.read_text().strip().splitlines()[-3:]) or "it said nothing."
        raise SilenceError(f"the virtual world did not start: {words}")
    return str(json.loads(line)["listening"])


def _end(child: subprocess.Popen[str]) -> None:
    for end in (child.terminate, child.kill):
        with contextlib.suppress(OSError):
            end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_END_DEADLINE_S)
            break
    for pipe in (child.stdin, child.stdout):
        assert pipe is not None, "it was asked for"
        pipe.close()
