"""A class of the submission that decides, asked through one buffer instead of two pipes.

The frames are those of `insides.host`. The first one is the class's file and name, a line each.
"""

from __future__ import annotations

import signal
import struct
from pathlib import Path

from insides.host import Serve, answering

_LENGTH = struct.Struct("<I")
# Between two questions come a few packets; an answer is a traceback at most.
_BUFFER_BYTES = 1 << 20
# The limits of switch/crates/sim/src/outside/child.rs, which python.js applies.
_BEGIN_LIMIT_S, _DECISION_LIMIT_S = 20, 5


class _Late(BaseException):
    """A decision took too long. No `except Exception` of a submission catches this."""


def _be_late(number: int, frame: object) -> None:
    raise _Late


class Decider:
    """One class in one run of vitrine-sim."""

    def __init__(self) -> None:
        self.buffer = bytearray(_BUFFER_BYTES)
        self._answer: Serve | None = None
        self._limit_s = _BEGIN_LIMIT_S
        signal.signal(signal.SIGINT, _be_late)

    def exchange(self, length: int) -> int:
        """Reads `length` bytes of frames from the buffer, writes the answers there and returns
        their length."""
        frames, answers, at = bytes(self.buffer[:length]), b"", 0
        while at < length:
            (size,) = _LENGTH.unpack_from(frames, at)
            at += _LENGTH.size + size
            answer = self._answer_to(frames[at - size : at])
            if answer is not None:
                answers += _LENGTH.pack(len(answer)) + answer
        self.buffer[: len(answers)] = answers
        return len(answers)

    def _answer_to(self, body: bytes) -> bytes | None:
        if self._answer is None:
            file, name = body.decode().split("\n")
            self._answer = answering(Path(file), name)
            return None
        try:
            answer = self._answer(body)
        except _Late:
            return f"\1it took longer than {self._limit_s} s, and was ended".encode()
        except SystemExit:
            return b"\1its process ended without an answer"
        self._limit_s = _DECISION_LIMIT_S
        return answer
