"""A class of the submission that decides, asked through one buffer instead of two pipes.

The frames are those of `insides.host`. The first one names the class: its file, then its name.
"""

from __future__ import annotations

import signal
import struct
from pathlib import Path

from insides.host import Serve, answering

_LENGTH = struct.Struct("<I")
# What is told between two questions is a few packets, and an answer a traceback at most.
_BUFFER_BYTES = 1 << 20


class _Late(BaseException):
    """A decision took too long. No `except Exception` of a submission holds it up."""


def _be_late(number: int, frame: object) -> None:
    raise _Late


class Conversation:
    """One class of one run of vitrine-sim."""

    def __init__(self) -> None:
        self.buffer = bytearray(_BUFFER_BYTES)
        self._answer: Serve | None = None
        self._limit_s = 20
        signal.signal(signal.SIGINT, _be_late)

    def say(self, length: int) -> int:
        """Takes the frames in the buffer and leaves the answers there; how long they are."""
        frames, answers, at = bytes(self.buffer[:length]), b"", 0
        while at < length:
            (size,) = _LENGTH.unpack_from(frames, at)
            at += _LENGTH.size + size
            answer = self._told(frames[at - size : at])
            if answer is not None:
                answers += _LENGTH.pack(len(answer)) + answer
        self.buffer[: len(answers)] = answers
        return len(answers)

    def _told(self, body: bytes) -> bytes | None:
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
        self._limit_s = 5
        return answer
