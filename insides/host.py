"""The process in which a class of yours decides: `python3 -m insides.host FILE.py CLASS`.

vitrine-sim starts it and asks through standard input and output; what is said is written down in
`switch/crates/sim/src/outside/wire.rs`. The class sees neither: it reads nothing, and what it
prints goes to standard error.

The class may be a stranger's, so it never runs as root: behind sudo it runs as the user who called
sudo, otherwise as nobody. Its own file is read before that.
"""

from __future__ import annotations

import importlib.util
import json
import linecache
import operator
import os
import struct
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import Any, TypeAlias

from insides import contract
from insides.chance import Chance
from insides.contract import Packet, Window
from insides.contract import Path as NetworkPath

_LENGTH = struct.Struct("<I")
_AT_COUNT = struct.Struct("<QH")
_TURN = struct.Struct("<QB")
_HEAD = struct.Struct("<BI")
_PACKET = struct.Struct("<QIQQB")
_WAITED = struct.Struct("<Q")
_ENQUEUED = struct.Struct("<QBI")
_DEPARTED = struct.Struct("<BIB")
# Flow, number and window; then the path, in the order of its fields.
_CONGESTION = struct.Struct("<6IQ4I6Q???")
_FLOW = struct.Struct("<I")
_WINDOW = struct.Struct("<3I")
_INPUTS = 16
_TRACEBACK_LINES = 12
_STATE = b"V"
_STATE_MAX = 600
# Attributes that the base classes set.
_GIVEN = ("ports", "iterations", "seed", "weights", "rate")
_READ_BYTES = 1 << 16
_LOOK_EVERY_S = 1.0
# The numbers of nobody and nogroup, on all distributions.
_NOBODY = 65534


class Unfit(Exception):  # noqa: N818 - it is told to a person and not raised to one
    """Something about the class or its answer, in a sentence."""


Serve: TypeAlias = Callable[[bytes], bytes | None]
Inputs: TypeAlias = tuple[int, ...]


def main() -> int:
    """Serves until vitrine-sim hangs up."""
    pipe = _Pipe()
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    answer = answering(Path(sys.argv[1]), sys.argv[2])
    while (body := pipe.read()) is not None:
        said = answer(body)
        if said is not None:
            pipe.write(said)
    return 0


def answering(file: Path, name: str) -> Serve:
    """A function from frames to answers of a class; None if a frame asks nothing.

    The first frame loads the class. The first byte of an answer is 0, or 1 before an error message.
    """
    decide: Serve | None = None

    def answer(body: bytes) -> bytes | None:
        nonlocal decide
        try:
            if decide is None:
                decide, said = _begin(file, name, json.loads(body[1:]))
                return b"\0" + said
            told = decide(body)
            return None if told is None else b"\0" + told
        except Unfit as error:
            return b"\1" + str(error).encode()
        except Exception:  # noqa: BLE001 - whatever the class raises is told to its author
            return b"\1" + _trace(file).encode()

    return answer


def _end_with(parent: int) -> None:
    """A class that never answers would outlive a vitrine-sim that was ended meanwhile."""
    nothing = threading.Event()
    while os.getppid() == parent:
        nothing.wait(_LOOK_EVERY_S)
    os._exit(1)


class _Pipe:
    """The two pipes, moved to where `print` and `input` do not find them."""

    def __init__(self) -> None:
        self._input, self._output = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        # The bytes read, and how many of them have been taken.
        self._waiting, self._at = b"", 0

    def read(self) -> bytes | None:
        """The next frame's body; none at the end."""
        while True:
            # Mostly the router asks one question and waits: what was read is this one frame.
            waiting, at = self._waiting, self._at
            if len(waiting) - at >= 4:
                end = at + 4 + _LENGTH.unpack_from(waiting, at)[0]
                if len(waiting) >= end:
                    self._at = end
                    return waiting[at + 4 : end]
            more = os.read(self._input, _READ_BYTES)
            if not more:
                return None
            self._waiting, self._at = waiting[at:] + more, 0

    def write(self, body: bytes) -> None:
        os.write(self._output, _LENGTH.pack(len(body)) + body)


def _begin(file: Path, name: str, parameters: dict[str, Any]) -> tuple[Serve, bytes]:
    """The decider from now on, and the answer to the beginning."""
    kind = parameters.pop("kind")
    found = _load(file, name, getattr(contract, kind))
    if kind == "CongestionControl":
        return _congestion(found, **parameters), _wishes(found)
    if kind == "Aqm":
        return _aqm(found(**parameters)), _questions(found)
    serve = _arbiter if kind == "Arbiter" else _scheduler
    return serve(found(**parameters)), b""


def _load(file: Path, name: str, base: type) -> type[Any]:
    if not file.is_file():
        raise Unfit(f"there is no file {file}")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None, "its name ends in .py"
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    # The file's imports may be beside it.
    sys.path.insert(0, _still_reached(file.resolve().parent))
    source = file.read_bytes()
    # For the lines in tracebacks: the file may be out of reach later. Without a time, the entry is
    # never compared with the file.
    lines = source.decode(errors="replace").splitlines(keepends=True)
    linecache.cache[str(file)] = (len(source), None, lines, str(file))
    _give_up_root()
    exec(compile(source, file, "exec"), module.__dict__)
    found = getattr(module, name, None)
    if found is None:
        classes = [
            each
            for each, thing in vars(module).items()
            if isinstance(thing, type) and issubclass(thing, base) and thing is not base
        ]
        there_are = f"it has {', '.join(classes)}" if classes else f"it has no {base.__name__}"
        raise Unfit(f"{file} has no class {name}; {there_are}")
    if not (isinstance(found, type) and issubclass(found, base)):
        raise Unfit(f"{name} is no {base.__name__}: write class {name}(insides.{base.__name__})")
    return found


def _still_reached(folder: Path) -> str:
    """The folder by a path that another user can go too: folders above it may be root's alone."""
    if not _is_root():
        return str(folder)
    return f"/proc/self/fd/{os.open(folder, os.O_PATH | os.O_DIRECTORY)}"


def _is_root() -> bool:
    # Python in a web page has no users.
    return sys.platform != "emscripten" and os.geteuid() == 0


def _give_up_root() -> None:
    if not _is_root():
        return
    user = int(os.environ.get("SUDO_UID", 0)) or _NOBODY
    group = int(os.environ.get("SUDO_GID", 0)) or _NOBODY
    try:
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    except OSError as error:
        raise Unfit(
            f"classes do not run as root, and this one cannot run as {user}: {error}"
        ) from None


# ---- questions to calls, and what they return to answers -----------------------------------------


# The inputs of each byte of a set, in rising order: those of a set are looked up byte by byte.
_MEMBERS = [
    [tuple(8 * place + bit for bit in range(8) if byte >> bit & 1) for byte in range(256)]
    for place in range(_INPUTS)
]


def _joined(one: Iterable[Inputs], other: Iterable[Inputs]) -> Iterable[Inputs]:
    return map(operator.add, one, other)


def _arbiter(arbiter: contract.Arbiter) -> Callable[[bytes], bytes]:
    def decide(body: bytes) -> bytes:
        if body[:1] == _STATE:
            return _state(arbiter).encode()
        now, count = _AT_COUNT.unpack_from(body, 1)
        # There are as many inputs as outputs, so the bytes behind that many are empty.
        columns: Iterator[Iterable[Inputs]] = (
            map(_MEMBERS[place].__getitem__, body[11 + place :: _INPUTS])
            for place in range((count + 7) // 8)
        )
        asks = list(reduce(_joined, columns))
        pairs = arbiter.match(asks, now)
        try:
            return bytes([side for left, right in pairs for side in (left, right)])
        except (TypeError, ValueError):
            raise Unfit(
                f"match() returned {_short(pairs)}, which is no list of pairs of whole numbers "
                "from 0 on"
            ) from None

    return decide


def _scheduler(scheduler: contract.Scheduler) -> Serve:
    # Packets by class.
    waiting: Counter[int] = Counter()

    def decide(body: bytes) -> bytes | None:
        kind = body[:1]
        if kind == b"E":
            now, group, length = _ENQUEUED.unpack_from(body, 1)
            waiting[group] += 1
            scheduler.enqueued(group, length, now)
            return None
        if kind in (b"D", b"X"):
            group, length, emptied = _DEPARTED.unpack_from(body, 1)
            waiting[group] -= 1
            told = scheduler.departed if kind == b"D" else scheduler.dropped
            told(group, length, bool(emptied))
            return None
        if kind == _STATE:
            return (_state(scheduler) + _left_over(scheduler, waiting)).encode()
        now, _ = _TURN.unpack_from(body, 1)
        chosen = scheduler.choose(dict(_HEAD.iter_unpack(body[10:])), now)
        if not isinstance(chosen, int) or not 0 <= chosen < 256:
            raise Unfit(f"choose() returned {_short(chosen)}, which is no class")
        return bytes([chosen])

    return decide


def _state(decider: object) -> str:
    """The attributes of a class's own, with those of its parts; nothing that says only a type."""
    found: list[str] = []
    for name, value in _attributes(decider):
        for path, each in (*((f"{name}.{inner}", own) for inner, own in _attributes(value)),) or (
            (name, value),
        ):
            text = repr(each)
            if not text.startswith("<") and sum(map(len, found)) < _STATE_MAX:
                found.append(f"{path} = {_short(each)}")
    return ", ".join(found)


def _attributes(thing: object) -> list[tuple[str, object]]:
    if isinstance(thing, Chance):
        return []
    own = getattr(thing, "__dict__", {})
    return [(name, value) for name, value in own.items() if name not in _GIVEN]


def _left_over(scheduler: contract.Scheduler, waiting: Mapping[int, int]) -> str:
    """Says of a queue of the class's own that it has more entries than packets that wait."""
    for name, value in _attributes(scheduler):
        queues = value if isinstance(value, (list, dict)) else ()
        for group in range(len(scheduler.weights)):
            try:
                length = len(queues[group])
            except (TypeError, IndexError, KeyError):
                continue
            if length > waiting[group]:
                packets = "1 packet waits" if waiting[group] == 1 else f"{waiting[group]} wait"
                return (
                    f". {name}[{group}] has {length} entries, but in class {group} {packets}: "
                    "departed() and dropped() must remove the first"
                )
    return ""


def _questions(aqm: type[contract.Aqm]) -> bytes:
    """The questions for it, as bits: those without a method pass."""
    base = contract.Aqm
    return bytes([(aqm.arrival is not base.arrival) | (aqm.departure is not base.departure) << 1])


def _aqm(aqm: contract.Aqm) -> Callable[[bytes], bytes]:
    def decide(body: bytes) -> bytes:
        now, length, packets, waiting, ecn = _PACKET.unpack_from(body, 1)
        packet = Packet(length, packets, waiting, bool(ecn))
        if body[:1] == b"A":
            name, verdict = "arrival", aqm.arrival(packet, now)
        else:
            (waited,) = _WAITED.unpack_from(body, 1 + _PACKET.size)
            name, verdict = "departure", aqm.departure(packet, waited, now)
        if verdict not in (contract.PASS, contract.MARK, contract.DROP):
            raise Unfit(f"{name}() returned {_short(verdict)}; it returns PASS, MARK or DROP")
        return bytes([verdict])

    return decide


# The methods by the codes of wire.rs, and those that get a number beside window and path.
_EVENTS = ("begun", "grow", "lost", "measured", "resumed", "timed_out", "undone")
_WITH_NUMBER = ("grow", "measured")
_MARKS = ("classic", "every mark", "L4S")


def _wishes(control: type[contract.CongestionControl]) -> bytes:
    """Which methods it has, as bits, and how it uses marks."""
    base = contract.CongestionControl
    own = [getattr(control, event) is not getattr(base, event) for event in _EVENTS]
    for event, has in zip(_EVENTS, own, strict=True):
        if event in ("grow", "lost") and not has:
            raise Unfit(f"{control.__name__} has no method {event}()")
    if control.marks not in _MARKS:
        raise Unfit(f"{control.__name__}.marks is {control.marks!r}; it is one of {_MARKS}")
    return bytes([sum(has << code for code, has in enumerate(own)), _MARKS.index(control.marks)])


def _congestion(control: type[contract.CongestionControl], seed: int) -> Serve:
    """One object for each connection."""
    flows: dict[int, tuple[contract.CongestionControl, Window]] = {}

    def decide(body: bytes) -> bytes | None:
        if body[:1] == b"Z":
            (ended,) = _FLOW.unpack_from(body, 1)
            flows.pop(ended, None)
            return None
        flow, number, cwnd, ssthresh, count, prior, *seen = _CONGESTION.unpack_from(body, 2)
        if flow not in flows:
            flows[flow] = control(flow, seed), Window()
        made, window = flows[flow]
        window.cwnd, window.ssthresh, window.count, window.prior_cwnd = cwnd, ssthresh, count, prior
        event = _EVENTS[body[1]]
        more = (number,) if event in _WITH_NUMBER else ()
        told = getattr(made, event)(window, NetworkPath._make(seen), *more)
        try:
            if event == "lost":
                return _WINDOW.pack(cwnd, told, count)
            if event == "undone":
                return _WINDOW.pack(told, ssthresh, count)
        except struct.error:
            raise Unfit(
                f"{event}() returned {_short(told)}, which is no whole number from 0 to 2**32 - 1"
            ) from None
        try:
            return _WINDOW.pack(window.cwnd, window.ssthresh, window.count)
        except struct.error:
            raise Unfit(
                f"{event}() left {_short(window)}; its parts are whole numbers from 0 to 2**32 - 1"
            ) from None

    return decide


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _trace(file: Path) -> str:
    """The last exception as its author knows it, without what is ours."""
    kind, error, _ = sys.exc_info()
    frames = traceback.extract_tb(error.__traceback__ if error else None)
    own = [frame for frame in frames if Path(frame.filename).name == file.name]
    place = f" (line {own[-1].lineno}: {own[-1].line})" if own else ""
    text = "".join(traceback.format_exception_only(kind, error)).strip()
    return "\n".join(f"{text}{place}".splitlines()[-_TRACEBACK_LINES:])


if __name__ == "__main__":
    sys.exit(main())
