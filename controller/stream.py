"""The StreamChannel of a session: arbitration, packets, digests and errors, in both directions.

Requests go out of one queue; answers are read by one thread, which sorts them: the last word on who
is primary is kept, packets and digests wait in queues of their own until somebody takes them.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import grpc
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

# A controller that never takes its packets must not fill the memory; the oldest go first.
WAITING_MAX = 10_000


# Election ids have 128 bits, which messages carry in two halves; here they are plain integers.
_HALF_BITS = 64


def halves(election_id: int) -> dict[str, int]:
    """The fields of the message that carries an election id, P4Runtime's or vitrine.v1's."""
    return {"high": election_id >> _HALF_BITS, "low": election_id % (1 << _HALF_BITS)}


def bid(device_id: int, election_id: int | None) -> p4runtime_pb2.StreamMessageRequest:
    """A stream's bid to be primary or, without an id, its question for the primary."""
    request = p4runtime_pb2.StreamMessageRequest()
    request.arbitration.device_id = device_id
    if election_id is not None:
        request.arbitration.election_id.CopyFrom(p4runtime_pb2.Uint128(**halves(election_id)))
    return request


@dataclass(frozen=True)
class Primary:
    """The election id of the primary controller, and whether that is us."""

    election_id: int
    is_us: bool


class Inbox:
    """The device's own messages; it outlives a stream that breaks."""

    def __init__(self) -> None:
        self.packets: queue.Queue[p4runtime_pb2.PacketIn] = queue.Queue(WAITING_MAX)
        self.digests: queue.Queue[p4runtime_pb2.DigestList] = queue.Queue(WAITING_MAX)
        # Packets and digests that were not taken in time.
        self.lost = 0

    def put(self, answer: p4runtime_pb2.StreamMessageResponse) -> None:
        """Files one message; kinds without a reader are left out."""
        kind = answer.WhichOneof("update")
        if kind == "packet":
            self._put(self.packets, answer.packet)
        elif kind == "digest":
            self._put(self.digests, answer.digest)

    def _put(self, waiting: queue.Queue, message: object) -> None:
        while True:
            try:
                waiting.put_nowait(message)
            except queue.Full:
                self.lost += 1
                waiting.get_nowait()
            else:
                return


class Standing(Enum):
    """A stream's standing in its role; the values are the status codes for it."""

    PRIMARY = grpc.StatusCode.OK.value[0]
    # Somebody else may write.
    BACKUP = grpc.StatusCode.ALREADY_EXISTS.value[0]
    # No client may write, until one comes whose election id is not below any before.
    ORPHAN = grpc.StatusCode.NOT_FOUND.value[0]


@dataclass(frozen=True)
class Word:
    """The device's word on the primary."""

    standing: Standing
    # The highest election id that it has seen: the primary's, if there is one.
    highest_id: int


class Stream:
    """One StreamChannel from its start to its end; a broken one is replaced, not repaired."""

    def __init__(
        self, stub: p4runtime_pb2_grpc.P4RuntimeStub, inbox: Inbox, on_change: Callable[[], None]
    ) -> None:
        """Starts reading; `on_change` is called at each word on who is primary, and at the end."""
        self._inbox = inbox
        self._on_change = on_change
        self._requests: queue.Queue[p4runtime_pb2.StreamMessageRequest | None] = queue.Queue()
        # The last word on who is primary, or why there will be none; guarded by the condition.
        self._changed = threading.Condition()
        self._word: Word | None = None
        self._words = 0
        self._end: tuple[grpc.StatusCode, str] | None = None
        # None in the queue ends the stream.
        self._call = stub.StreamChannel(iter(self._requests.get, None))
        self._reader = threading.Thread(target=self._read_answers, name="stream", daemon=True)
        self._reader.start()

    def send(self, request: p4runtime_pb2.StreamMessageRequest) -> None:
        """Hands a request to the stream; nothing says whether it arrives."""
        self._requests.put(request)

    def word(self, deadline_s: float) -> Word | None:
        """The device's last word on who is primary, once there is one; None if none comes."""
        with self._changed:
            self._changed.wait_for(lambda: self._word or self._end, deadline_s)
            return self._word

    def settle(self, request: p4runtime_pb2.StreamMessageRequest, deadline_s: float) -> bool:
        """Says its bid once more and waits for the word that answers it; whether one came.

        A stream keeps its order: by then what was sent before it has arrived, and what the device
        had said before is here.
        """
        with self._changed:
            heard = self._words
            self._requests.put(request)
            self._changed.wait_for(lambda: self._words > heard or self._end, deadline_s)
            return self._words > heard

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come."""
        return self._end is not None

    def ends_within(self, deadline_s: float) -> bool:
        """Waits for its end; whether it came."""
        with self._changed:
            return self._changed.wait_for(lambda: self._end is not None, deadline_s)

    def loses_office_within(self, deadline_s: float) -> bool:
        """Waits for the notice that it may not write any more, or for its end; whether it has
        ended."""

        def has_lost_it() -> bool:
            return self._word is None or self._word.standing is not Standing.PRIMARY

        with self._changed:
            self._changed.wait_for(lambda: self._end is not None or has_lost_it(), deadline_s)
            return self._end is not None

    def was_refused(self) -> bool:
        """Whether it ended because what it said was wrong: an election id that another one has."""
        return self._end is not None and self._end[0] is grpc.StatusCode.INVALID_ARGUMENT

    def why_silent(self) -> str:
        """Why no word came."""
        return "it did not answer in time" if self._end is None else self._end[1]

    def close(self) -> None:
        """Ends the stream and waits for its reader."""
        self._requests.put(None)
        self._call.cancel()
        self._reader.join()

    def _read_answers(self) -> None:
        end = (grpc.StatusCode.OK, "the stream ended")
        try:
            for answer in self._call:
                if answer.HasField("arbitration"):
                    with self._changed:
                        self._word = _word(answer.arbitration)
                        self._words += 1
                        self._changed.notify_all()
                    self._on_change()
                else:
                    self._inbox.put(answer)
        except grpc.RpcError as problem:
            # Also the end of a cancelled call; then no caller waits for an answer any more.
            end = (problem.code(), problem.details())
        with self._changed:
            self._end = end
            self._word = None
            self._changed.notify_all()
        self._on_change()


def _word(message: p4runtime_pb2.MasterArbitrationUpdate) -> Word:
    highest_id = message.election_id.high << _HALF_BITS | message.election_id.low
    # Anything but OK means that this stream may not write.
    known = {each.value for each in Standing}
    code = message.status.code
    return Word(Standing(code) if code in known else Standing.BACKUP, highest_id)
