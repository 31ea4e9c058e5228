"""`vitrine reload`: the routers of a network that is up take their P4 programs as these are now.

The network's own process does it, because it holds the sessions: it listens on a socket beside the
record of the network (`topo.record`), takes one line and answers with what it did.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from apps.programming import Router
from controller import compiling
from controller import routers as running
from controller.errors import ControllerError

_BYTES_MAX = 1 << 20
# Compiling takes a second at most; a switch that is busy may take longer to answer.
_DEADLINE_S = 60.0
# One client is served at a time; one that connects sends its request at once, and reads the answer.
_SILENT_S = 5.0
_READ_BYTES = 1 << 16
_RETRY_S = 1.0


_SOCKET = "reload.sock"


@contextlib.contextmanager
def serving(routers: Sequence[Router]) -> Iterator[None]:
    """Reloads these routers on request for the length of a `with` block."""
    path = running.folder() / _SOCKET
    # There is one network a machine; a socket that is there was left behind by a killed run.
    path.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    ended = threading.Event()
    try:
        server.bind(str(path))
        server.listen()
        thread = threading.Thread(target=_serve, args=(server, routers, ended), daemon=True)
        thread.start()
        yield
    finally:
        ended.set()
        # Wakes the thread, which waits for the next request.
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        path.unlink(missing_ok=True)


def _serve(server: socket.socket, routers: Sequence[Router], ended: threading.Event) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            # The block has been left, or the process has no free descriptor.
            if ended.wait(_RETRY_S):
                return
            continue
        with client, contextlib.suppress(OSError):
            said = json.dumps(_answer_to(_line_from(client), routers)).encode()
            # Of the whole answer.
            client.settimeout(_SILENT_S)
            client.sendall(said)


def _line_from(client: socket.socket) -> str:
    """The request, which must be complete within a deadline, however its bytes arrive."""
    end_s = time.monotonic() + _SILENT_S
    content = bytearray()
    while len(content) < _BYTES_MAX and b"\n" not in content[-_READ_BYTES:]:
        left_s = end_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        client.settimeout(left_s)
        more = client.recv(_READ_BYTES)
        if not more:
            break
        content += more
    return content.partition(b"\n")[0].decode(errors="replace")


def _answer_to(line: str, routers: Sequence[Router]) -> dict[str, object]:
    try:
        request = json.loads(line or "{}")
        router, program = (request.pop(name, None) for name in ("router", "program"))
        if request or not all(each is None or isinstance(each, str) for each in (router, program)):
            raise ValueError
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {"ok": False, "lines": ["a request is a line of JSON that names router or program."]}
    try:
        return answer(routers, router, program)
    except Exception as error:  # noqa: BLE001 - one request must not end the service
        return {"ok": False, "lines": [f"the program cannot be loaded: {error}"]}


def answer(
    routers: Sequence[Router], router: str | None = None, program: str | None = None
) -> dict[str, object]:
    """Reloads one router or all, and says what became of each."""
    chosen = [each for each in routers if router in (None, each.name)]
    if not chosen:
        names = ", ".join(each.name for each in routers)
        return {"ok": False, "lines": [f"there is no router {router!r}; there are: {names}."]}
    lines: list[str] = []
    for each in chosen:
        try:
            remarks = each.reload(Path(program) if program else None)
        except ControllerError as error:
            return {"ok": False, "lines": [*lines, f"{each.name} is unchanged: {error}"]}
        lines += [f"{each.name} runs {each.source}", *remarks]
    return {"ok": True, "lines": lines}


def reload(router: str | None, program: str | None) -> int:
    """Asks the network for it; returns the exit status."""
    source = str(compiling.find(program)) if program else None
    try:
        said = _ask({"router": router or None, "program": source})
    except OSError as error:
        raise ControllerError(f"the network does not answer: {error}") from error
    print(*said["lines"], sep="\n", file=sys.stdout if said["ok"] else sys.stderr)
    return 0 if said["ok"] else 1


def _ask(request: dict[str, str | None]) -> dict:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(_DEADLINE_S)
        _connect(client)
        client.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(client.makefile().read())


def _connect(client: socket.socket) -> None:
    """To the network that is up on this machine."""
    for folder in running.folders():
        with contextlib.suppress(OSError):
            client.connect(str(folder / _SOCKET))
            return
    raise ControllerError(
        "no network is up on this machine: start one with `vitrine up` or `vitrine run`."
    )
