"""Records what the routers of a run tell, for a page to play without them.

    with rolling() as tape:
        ...a network comes up, something happens...
    tape.write(folder / "inside.html")

A tape is the messages as routers sent them: Describe whenever the configuration is another one,
and Watch: samples all the time, and every packet until PACKETS_BYTES_MAX of them are there; from
then on depths and drops go on. In a file each message has a head,

    kind (1 byte), router (1 byte), length (4 bytes), then the message,

and the last message is an index: for each second of the first router's time the place in the file.
"""

from __future__ import annotations

import contextlib
import json
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from vitrine.v1 import router_pb2

from controller.connection import MESSAGE_BYTES_MAX
from controller.router_service import RouterStub
from labs import routers
from labs.glass import onefile, relay
from labs.glass.scene import Router, Scene

SCENE, SCHEMA, DESCRIBE, SAMPLES, PACKETS, INDEX = range(1, 7)
HEAD = struct.Struct(">BBI")
SAMPLE_INTERVAL_MS = 50
HEAD_BYTES = 48
# What of single packets, and of all, a page still loads in a moment.
PACKETS_BYTES_MAX = 3_000_000
BYTES_MAX = 16_000_000
# How often is looked whether a network has come up, and whether its configuration has changed.
_LOOK_S = 0.5
_PS_PER_S = 1_000_000_000_000


@dataclass(frozen=True)
class Entry:
    """A message, and about when its router told it: within half a second."""

    kind: int
    router: int
    message: bytes
    time_ps: int


@dataclass
class Tape:
    """What one network has told so far."""

    title: str = ""
    up: routers.Up = field(default_factory=routers.Up)
    entries: list[Entry] = field(default_factory=list)
    bytes_held: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether no router has told anything."""
        return not any(entry.kind in (SAMPLES, PACKETS) for entry in self.entries)

    def take(self, entry: Entry) -> None:
        """Adds a message, until the tape is full."""
        if self.bytes_held < BYTES_MAX:
            self.entries.append(entry)
            self.bytes_held += len(entry.message)

    def data(self) -> bytes:
        """As a file: scene and schema, the messages, the index."""
        scene = json.dumps(self._scene().told(read_only=True)).encode()
        parts = [
            _packed(Entry(SCENE, 0, scene, 0)),
            _packed(Entry(SCHEMA, 0, relay.schema(), 0)),
        ]
        at = sum(map(len, parts))
        index: dict[int, int] = {}
        for entry in sorted(self.entries, key=lambda entry: entry.time_ps):
            index.setdefault(entry.time_ps // _PS_PER_S, at)
            parts.append(_packed(entry))
            at += len(parts[-1])
        last = Entry(INDEX, 0, json.dumps(index).encode(), 0)
        return b"".join([*parts, _packed(last)])

    def write(self, file: Path) -> None:
        """The page with the tape in it, which opens from a disk."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(onefile.page(self.data()))

    def _scene(self) -> Scene:
        return Scene(
            world="recorded",
            routers=[Router(name, "", 0) for name in self.up.routers],
            network=self.up.network,
            router=self.up.router,
            port=self.up.port,
            title=self.title,
        )


def read(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Kind, router and message of everything in a file."""
    at = 0
    while at < len(data):
        kind, router, length = HEAD.unpack_from(data, at)
        at += HEAD.size
        yield kind, router, data[at : at + length]
        at += length


def _packed(entry: Entry) -> bytes:
    return HEAD.pack(entry.kind, entry.router, len(entry.message)) + entry.message


@contextlib.contextmanager
def rolling(title: str = "") -> Iterator[Tape]:
    """Records whatever network is up for the length of a `with` block; the last one, if several."""
    tape, ending = Tape(title), threading.Event()
    thread = threading.Thread(target=_roll, args=(tape, ending), name="tape", daemon=True)
    thread.start()
    try:
        yield tape
    finally:
        ending.set()
        thread.join()


def _roll(tape: Tape, ending: threading.Event) -> None:
    """Follows networks that come and go."""
    with contextlib.ExitStack() as network:
        while True:
            up = routers.up()
            if up.routers and up.routers != tape.up.routers:
                network.close()
                # What a network before it told is another story.
                tape.entries.clear()
                tape.bytes_held = 0
                for index, address in enumerate(up.routers.values()):
                    network.enter_context(_listening(tape, index, address))
            if up.routers:
                tape.up = up
            if ending.wait(_LOOK_S):
                return


@contextlib.contextmanager
def _listening(tape: Tape, index: int, address: str) -> Iterator[None]:
    """Takes what one router tells."""
    options = [
        ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
        ("grpc.enable_http_proxy", 0),
    ]
    with grpc.insecure_channel(address, options=options) as channel:
        listener = _Listener(tape, index, channel)
        threads = [
            threading.Thread(target=work, daemon=True)
            for work in (listener.describe, listener.samples, listener.packets)
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            listener.end()
            for thread in threads:
                thread.join()


class _Listener:
    """The calls at one router. A router that goes away ends them, and that is all."""

    def __init__(self, tape: Tape, index: int, channel: grpc.Channel) -> None:
        self._tape, self._index = tape, index
        self._describe = RouterStub(channel).describe
        # Messages stay as they are: to read thousands a second would take the lab's own time.
        self._watch_raw = channel.unary_stream("/vitrine.v1.Router/Watch")
        # What was told lately, for the order of the tape.
        self._now_ps = 0
        self._ending = threading.Event()
        self._calls: list[Any] = []

    def end(self) -> None:
        """Nothing more is wanted."""
        self._ending.set()
        for call in self._calls:
            call.cancel()

    def describe(self) -> None:
        """The configuration, each time that it is another one."""
        known = None
        with contextlib.suppress(grpc.RpcError):
            while True:
                request = router_pb2.DescribeRequest()
                answer = self._describe(request, wait_for_ready=True, timeout=10)
                self._now_ps = answer.time_ps
                config = _config(answer)
                if config != known:
                    known = config
                    self._take(DESCRIBE, answer.SerializeToString())
                if self._ending.wait(_LOOK_S):
                    return

    def samples(self) -> None:
        """Depths and drops, as long as there is room."""
        request = router_pb2.WatchRequest(
            interval_ms=SAMPLE_INTERVAL_MS, marks=True, links=True, head_bytes=HEAD_BYTES
        )
        request.drops.SetInParent()
        for message in self._watch(request):
            self._take(SAMPLES, message)

    def packets(self) -> None:
        """Every packet, until there are enough."""
        request = router_pb2.WatchRequest(packets=True, head_bytes=HEAD_BYTES)
        taken = 0
        for message in self._watch(request):
            self._take(PACKETS, message)
            taken += len(message)
            if taken > PACKETS_BYTES_MAX:
                return

    def _watch(self, request: router_pb2.WatchRequest) -> Iterator[bytes]:
        call = self._watch_raw(request.SerializeToString(), wait_for_ready=True)
        self._calls.append(call)
        with contextlib.suppress(grpc.RpcError):
            yield from call
        call.cancel()

    def _take(self, kind: int, message: bytes) -> None:
        self._tape.take(Entry(kind, self._index, message, self._now_ps))


def _config(answer: router_pb2.DescribeResponse) -> bytes:
    """What of a description is configuration."""
    config = router_pb2.DescribeResponse(buffer=answer.buffer, input=answer.input)
    for port in answer.ports:
        config.ports.add(port=port.port, config=port.config)
    return config.SerializeToString(deterministic=True)
