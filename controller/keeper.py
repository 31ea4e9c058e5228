"""Keeps a session's place at its device: the role of primary, and what was written, after a loss.

What a session can do is one `State`, and whoever waits is told when it changes:

    READY       primary, or at least connected, of a device that has what this session wrote
    AWAY        the stream has ended; attempts to open another go on      requests wait
    RESTORING   primary again, and the device is being given what it lacks   requests wait
    SUPERSEDED  another controller is primary; the device refuses writes until it is gone
    FAILED      the device refuses what it once took; so does every request from now on
    CLOSED      the session was closed

    READY --stream ends--> AWAY --new stream, primary--> RESTORING --all accepted--> READY
      ^ |                    \\--new stream, not primary--> SUPERSEDED --the other is gone--^
      \\_/ another takes over, and is gone again (SUPERSEDED)

RESTORING ends only when the device has accepted everything. A restoration that is cut short, by
another loss or another primary, is owed until then: no way leads to READY around it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from enum import Enum

import grpc
from p4.v1 import p4runtime_pb2_grpc

from controller.connection import is_passing, status_of
from controller.errors import ConnectError, ControllerError, NotPrimaryError, RequestError
from controller.stream import Inbox, Standing, Stream, Word, bid

# Between two attempts to get a lost device back.
_PAUSE_S = 0.2


class State(Enum):
    """See the picture on top."""

    READY = "ready"
    AWAY = "away"
    RESTORING = "restoring"
    SUPERSEDED = "superseded"
    FAILED = "failed"
    CLOSED = "closed"


# In these, a request may be better off in a moment.
_PASSING = frozenset({State.AWAY, State.RESTORING})
# These stay as they are, whatever becomes of the stream.
_FINAL = frozenset({State.FAILED, State.CLOSED})
# A stream and a request that break with one connection do so in no certain order. The switch itself
# refuses nothing as unavailable, so the end of the stream is hardly ever waited for in vain.
_END_DEADLINE_S = 5.0
# A primary by its stream that may not write is about to hear of another primary, or of the end of
# the stream: a device that has restarted knows no primary yet. Otherwise little is denied.
_OFFICE_DEADLINE_S = 2.0


class Keeper:
    """One session's present stream, and the thread that replaces it."""

    def __init__(
        self,
        stub: p4runtime_pb2_grpc.P4RuntimeStub,
        inbox: Inbox,
        address: str,
        device_id: int,
        restore: Callable[[], None],
    ) -> None:
        """`restore` gives the device what it lacks, or raises; it may be called again."""
        self._stub, self._inbox = stub, inbox
        self._address, self._device_id = address, device_id
        self._restore = restore
        self.election_id = 0
        self.stream: Stream | None = None
        # The state, and why; guarded by the condition.
        self._changed = threading.Condition()
        self._state = State.READY
        self._error: ControllerError | None = None
        # Whether the device may lack something: since the stream ended, until all was accepted.
        self._owes = False
        # Set at each word on who is primary, at the end of the stream, and at the session's.
        self._look = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="session", daemon=True)

    @property
    def state(self) -> State:
        """The session's present abilities."""
        return self._state

    def become_primary(
        self, deadline_s: float, election_id: int | None, free_id: Callable[[], int]
    ) -> None:
        """The first time: with this id, or with one that is free; raises if it cannot be."""
        until = threading.Event()
        timer = threading.Timer(deadline_s, until.set)
        timer.daemon = True
        timer.start()
        try:
            while True:
                self.election_id = free_id() if election_id is None else election_id
                self._open(self.election_id)
                word = self._stream.word(deadline_s)
                if word is not None and word.standing is Standing.PRIMARY:
                    break
                # Somebody else has taken the free id meanwhile: the next one, while there is time.
                was_taken = word is not None or self._stream.was_refused()
                if election_id is None and was_taken and not until.is_set():
                    continue
                raise self._refused(word)
        finally:
            timer.cancel()
        self._thread.start()

    def await_ready(self, deadline_s: float) -> None:
        """Returns while requests make sense; waits for a device that is coming back."""
        if threading.current_thread() is self._thread:
            # A step of restoring cannot wait for the end of restoring.
            return
        with self._changed:
            self._changed.wait_for(self._is_settled, deadline_s)
            state, error = self._state, self._error
        if state is State.AWAY:
            why = f" ({error})" if error else ""
            raise ConnectError(
                f"the device at {self._address} went away and is not back within "
                f"{deadline_s:g} s{why}: is the switch running?"
            )
        if state is State.RESTORING:
            raise ConnectError(
                f"the device at {self._address} is back, but after {deadline_s:g} s it has not yet "
                "been given all that this session had written."
            )
        if state is State.FAILED:
            raise ControllerError(f"the session has ended: {error}") from error
        if state is State.CLOSED:
            raise ControllerError("the session is closed.")

    def has_lost(self, stream: Stream | None, error: Exception) -> bool:
        """Whether a request failed because the device went away, and not by its own fault.

        `stream` is the session's from before the request: what breaks the one breaks the other.
        """
        if stream is None or threading.current_thread() is self._thread:
            # An observer has no stream to tell by; the thread itself begins a step of restoring
            # anew.
            return False
        status = status_of(error)
        if status is grpc.StatusCode.PERMISSION_DENIED:
            return stream.loses_office_within(_OFFICE_DEADLINE_S)
        is_cut_off = status is grpc.StatusCode.UNAVAILABLE
        return stream.ends_within(_END_DEADLINE_S if is_cut_off else 0)

    def not_primary(self) -> NotPrimaryError:
        """Why the device refuses writes."""
        return self._not_primary(self._stream.word(0))

    def close(self) -> None:
        """Ends the stream, with it the role of primary; waiting callers get an error."""
        self._closing.set()
        self._look.set()
        if self._thread.is_alive():
            self._thread.join()
        self._enter(State.CLOSED)
        if self.stream is not None:
            self.stream.close()

    # ---- the thread ------------------------------------------------------------------------------

    def _keep(self) -> None:
        while not self._closing.is_set() and self._state is not State.FAILED:
            if self._stream.has_ended:
                self._come_back()
            else:
                self._look.wait()
                self._look.clear()
                self._follow(self._stream.word(0))

    def _come_back(self) -> None:
        """A new stream in place of one that has ended."""
        self._owes = True
        self._enter(State.AWAY, ConnectError(self._stream.why_silent()))
        # Another controller has our id: without one, the device tells us when it is gone.
        election_id = None if self._stream.was_refused() else self.election_id
        self._closing.wait(_PAUSE_S)
        self._open(election_id)

    def _follow(self, word: Word | None) -> None:
        """Acts on the device's last word about the primary."""
        if word is None or self._closing.is_set():
            return
        if word.standing is Standing.BACKUP:
            self._enter(State.SUPERSEDED)
        elif word.standing is Standing.ORPHAN:
            # P4Runtime (section 5.3) leaves the device without a primary until a client comes whose
            # id is not below any before.
            self.election_id = word.highest_id + 1
            self._stream.send(bid(self._device_id, self.election_id))
        elif self._owes:
            self._enter(State.RESTORING)
            self._give_back()
        else:
            self._enter(State.READY)

    def _give_back(self) -> None:
        try:
            self._restore()
        except (grpc.RpcError, ControllerError) as error:
            if is_passing(error) or status_of(error) is grpc.StatusCode.PERMISSION_DENIED:
                # The device is gone again, or another controller has come: the stream tells which,
                # and if it was neither, the next look tries once more.
                self._closing.wait(_PAUSE_S)
                self._look.set()
            else:
                is_ours = isinstance(error, ControllerError)
                self._enter(State.FAILED, error if is_ours else _sentence(error))
                self._stream.close()
        else:
            self._owes = False
            self._enter(State.READY)

    # ---- underneath ------------------------------------------------------------------------------

    def _is_settled(self) -> bool:
        """Whether a request makes sense, or never will.

        A stream may have ended before the thread has seen it.
        """
        if self._state in _FINAL:
            return True
        has_ended = self.stream is not None and self.stream.has_ended
        return self._state not in _PASSING and not has_ended

    @property
    def _stream(self) -> Stream:
        assert self.stream is not None, "an observer has no role to keep"
        return self.stream

    def _open(self, election_id: int | None) -> None:
        if self.stream is not None:
            self.stream.close()
        self.stream = Stream(self._stub, self._inbox, self._look.set)
        self.stream.send(bid(self._device_id, election_id))

    def _enter(self, state: State, error: ControllerError | None = None) -> None:
        with self._changed:
            self._state, self._error = state, error
            self._changed.notify_all()

    def _refused(self, word: Word | None) -> ControllerError:
        if word is not None:
            return self._not_primary(word)
        reason = self._stream.why_silent()
        return ConnectError(f"no stream to the device at {self._address}: {reason}.")

    def _not_primary(self, word: Word | None) -> NotPrimaryError:
        if word is None:
            return NotPrimaryError(f"this session is not primary of the device at {self._address}.")
        if word.standing is Standing.ORPHAN:
            return NotPrimaryError(
                f"the device at {self._address} had a controller with election id "
                f"{word.highest_id}, and lets nobody below that write: leave election_id out."
            )
        return NotPrimaryError(
            f"another controller with election id {word.highest_id} holds the device at "
            f"{self._address}: end it, or leave election_id out to take over while it runs."
        )


def _sentence(error: Exception) -> RequestError:
    details = error.details() if isinstance(error, grpc.RpcError) else error
    return RequestError(f"the device refuses what it had accepted before: {details}.")
