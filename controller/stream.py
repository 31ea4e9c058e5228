"""The StreamChannel of a session: arbitration, packets, digests and errors, in both directions.

Requests go out of one queue; answers are read by one thread, which sorts them: the last word on who
is primary is kept, packets and digests wait in queues of their own until somebody takes them.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

import grpc
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

# A controller that never takes its packets must not fill the memory; the oldest go first.
WAITING_MAX = 10_000


@dataclass(frozen=True)
class Primary:
    """Who may write: the election id of the primary controller, and whether that is us."""

    election_id: int
    is_us: bool


class Inbox:
    """What the device sends without being asked; it outlives a stream that breaks."""

    def __init__(self) -> None:
        self.packets: queue.Queue[p4runtime_pb2.PacketIn] = queue.Queue(WAITING_MAX)
        self.digests: queue.Queue[p4runtime_pb2.DigestList] = queue.Queue(WAITING_MAX)
        # Packets and digests that nobody took in time.
        self.lost = 0

    def put(self, answer: p4runtime_pb2.StreamMessageResponse) -> None:
        """Files one message; kinds that nobody waits for are left out."""
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


class Stream:
    """One StreamChannel from its start to its end; a broken one is not mended but replaced."""

    def __init__(
        self, stub: p4runtime_pb2_grpc.P4RuntimeStub, inbox: Inbox, on_change: Callable[[], None]
    ) -> None:
        """Starts reading; `on_change` is called at each word on who is primary, and at the end."""
        self._inbox = inbox
        self._on_change = on_change
        self._requests: queue.Queue[p4runtime_pb2.StreamMessageRequest | None] = queue.Queue()
        # The last arbitration, or why there will be none; guarded by the condition.
        self._changed = threading.Condition()
        self._arbitration: p4runtime_pb2.MasterArbitrationUpdate | None = None
        self._error: str | None = None
        # None in the queue ends the stream.
        self._call = stub.StreamChannel(iter(self._requests.get, None))
        self._reader = threading.Thread(target=self._read_answers, name="stream", daemon=True)
        self._reader.start()

    def send(self, request: p4runtime_pb2.StreamMessageRequest) -> None:
        """Hands a request to the stream; nothing says whether it arrives."""
        self._requests.put(request)

    def arbitration(self, deadline_s: float) -> p4runtime_pb2.MasterArbitrationUpdate | str | None:
        """The device's last word on who is primary, once there is one; or why none will come."""
        with self._changed:
            self._changed.wait_for(lambda: self._arbitration or self._error, deadline_s)
            return self._arbitration or self._error

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come."""
        return self._error is not None

    def abandoned_id(self) -> int | None:
        """The highest election id so far, if its controller is gone and nobody is primary."""
        with self._changed:
            word = self._arbitration
        if word is None or word.status.code != grpc.StatusCode.NOT_FOUND.value[0]:
            return None
        return word.election_id.low

    def close(self) -> None:
        """Ends the stream and waits for its reader."""
        self._requests.put(None)
        self._call.cancel()
        self._reader.join()

    def _read_answers(self) -> None:
        error = "the stream ended"
        try:
            for answer in self._call:
                if answer.HasField("arbitration"):
                    with self._changed:
                        self._arbitration = answer.arbitration
                        self._changed.notify_all()
                    self._on_change()
                else:
                    self._inbox.put(answer)
        except grpc.RpcError as problem:
            # Also how a cancelled call ends; then nobody waits for an answer any more.
            error = problem.details()
        with self._changed:
            self._error = error
            self._arbitration = None
            self._changed.notify_all()
        self._on_change()
