"""Records what the routers of a run tell, for a page to play without them.

    with rolling() as tape:                 # live: whatever network is up
        ...a network comes up, something happens...
    tape.write(folder / "inside.html")

    with listening(tape, up, world):        # in virtual time: this one, from this instant on
        ...time passes...

A tape is the messages as routers sent them: Describe whenever the configuration is another one,
and Watch: samples all the time, and every packet until PACKETS_BYTES_MAX of them are there; from
then on depths and drops go on. It also has WatchHosts: what `ss` tells of the hosts' connections.
Of the program there is what GetForwardingPipelineConfig answers, its sources as JSON, what Read
answers every now and then with the time before each (8 bytes), the last one at the end, and Trace
of some packets. In a file each message has a head,

    kind (1 byte), router (1 byte), length (4 bytes), then the message,

and the last message is an index: for each second of the first router's time the place in the file.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.message import Message
from p4.v1 import p4runtime_pb2 as p4
from vitrine.v1 import router_pb2, world_pb2

from controller import quick, routers
from controller.addresses import parted
from controller.connection import CHANNEL_OPTIONS
from labs.glass import onefile, readings, relay, sources
from labs.glass.scene import Router, Scene

SCENE, SCHEMA, DESCRIBE, SAMPLES, PACKETS, INDEX, HOSTS = range(1, 8)
PROGRAM, SOURCES, ENTRIES, TRACE = range(8, 12)
HEAD = struct.Struct(">BBI")
SAMPLE_INTERVAL_MS = 50
HEAD_BYTES = 48
# The bytes of single packets, and of all messages, that a page still loads in a moment.
PACKETS_BYTES_MAX = 3_000_000
BYTES_MAX = 16_000_000
# Tables are read every `_READ_S` seconds of ours; at most `READINGS_MAX` readings stay.
_READ_S, READINGS_MAX = 1.0, 24
_INSTANT = struct.Struct(">Q")
# At most `FOLLOWED` packets are followed at a time, because a router follows for one client and
# other clients may want to; after `_TIMES_A_PAUSE` times the pause between two doubles.
FOLLOWED, _TIMES_A_PAUSE = 10, 10
# How long a live router is waited for until it has that many.
_FOLLOW_S = 0.3
# The time between two checks whether a network has come up, or its configuration has changed.
_LOOK_S = 0.5
# Virtual time passes faster than ours.
_LOOK_VIRTUAL_S = 0.2
_FIRST_DEADLINE_S = 30.0
_READ_DEADLINE_S = 5.0
_PS_PER_S = 1_000_000_000_000
# How a call ends whose router went away, or that was cancelled.
_ENDS = (grpc.RpcError, grpc.FutureCancelledError)
_DESCRIBE = "/vitrine.v1.Router/Describe"
_WATCH = "/vitrine.v1.Router/Watch"
_WATCH_HOSTS = "/vitrine.v1.World/WatchHosts"
_TRACE = "/vitrine.v1.Router/Trace"
_ALL = p4.GetForwardingPipelineConfigRequest.ALL
_COOKIE = p4.GetForwardingPipelineConfigRequest.COOKIE_ONLY
_CONFIG = "/p4.v1.P4Runtime/GetForwardingPipelineConfig"
_READ = "/p4.v1.P4Runtime/Read"
# Of the steps of a followed packet, those after which there are no more.
_LAST_STEPS = frozenset({"transmitted", "dropped", "replicated_by"})

_NUMBERS = {field.name: field.number for field in router_pb2.DescribeResponse.DESCRIPTOR.fields}
_HOSTS_UNTIL = world_pb2.WatchHostsResponse.DESCRIPTOR.fields_by_name["complete_until_ps"].number
_SETTINGS = {_NUMBERS[name] for name in ("buffer", "input", "drop_mirror")}
_PORT_SETTINGS = {
    router_pb2.Port.DESCRIPTOR.fields_by_name[name].number for name in ("port", "config")
}


@dataclass(frozen=True)
class Entry:
    """A message, and about when its router told it: within half a second."""

    kind: int
    router: int
    message: bytes
    time_ps: int


@dataclass
class Tape:
    """The recorded messages of one network."""

    title: str = ""
    # Between two samples of depths, and of hosts; 0: none, for a run that is shorter than one.
    interval_ms: int = SAMPLE_INTERVAL_MS
    # As Scene has them.
    lesson: str = ""
    pace: float = 1.0
    beliefs: Mapping[str, Any] | None = None
    up: routers.Up = field(default_factory=routers.Up)
    entries: list[Entry] = field(default_factory=list)
    bytes_held: int = 0
    # Of tables, by router: each is added to by that router's thread alone.
    readings: dict[int, list[Entry]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether no router has told anything."""
        return not any(entry.kind in (SAMPLES, PACKETS) for entry in self.entries)

    def begin(self, up: routers.Up) -> None:
        """Starts a recording of this network, and drops that of the one before."""
        self.entries.clear()
        self.readings.clear()
        self.bytes_held = 0
        self.up = up

    def take(self, entry: Entry) -> None:
        """Adds a message, until the tape is full."""
        if self.bytes_held < BYTES_MAX:
            self.entries.append(entry)
            self.bytes_held += len(entry.message)

    def take_reading(self, entry: Entry) -> None:
        """Adds what tables had at an instant; of very many readings of a router some stay."""
        mine = self.readings.setdefault(entry.router, [])
        mine.append(entry)
        if len(mine) > READINGS_MAX:
            # The one whose neighbours are nearest to each other, so the rest are far apart.
            between = range(1, len(mine) - 1)
            del mine[min(between, key=lambda at: mine[at + 1].time_ps - mine[at - 1].time_ps)]

    def data(self) -> bytes:
        """As a file: scene and schema, the messages, the index."""
        scene = json.dumps(self._scene().told(read_only=True)).encode()
        parts = [
            _packed(Entry(SCENE, 0, scene, 0)),
            _packed(Entry(SCHEMA, 0, relay.schema(), 0)),
        ]
        at = sum(map(len, parts))
        index: dict[int, int] = {}
        told = [*self.entries, *(each for some in self.readings.values() for each in some)]
        for entry in sorted(told, key=lambda entry: entry.time_ps):
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
            lesson=self.lesson,
            pace=self.pace,
            beliefs=self.beliefs,
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
                tape.begin(up)
                ids = {each["name"]: each["deviceId"] for each in up.network.get("routers", [])}
                for index, (name, address) in enumerate(up.routers.items()):
                    target = _Target(index, address, p4_id=ids.get(name, 0))
                    network.enter_context(_listening(tape, target))
                if up.hosts:
                    network.enter_context(_listening_to_hosts(tape, up.hosts))
            if up.routers:
                tape.up = up
            if ending.wait(_LOOK_S):
                return


@contextlib.contextmanager
def listening(tape: Tape, up: routers.Up) -> Iterator[None]:
    """Records all that happens in the block in a network in virtual time."""
    tape.begin(up)
    ids = {each["name"]: each["deviceId"] for each in up.network["routers"]}
    with contextlib.ExitStack() as stack:
        for index, (name, address) in enumerate(up.routers.items()):
            place, _ = parted(address)
            target = _Target(index, place, ids[name], p4_id=ids[name], tells_hosts=index == 0)
            stack.enter_context(_listening(tape, target))
        yield


@dataclass(frozen=True)
class _Target:
    """A router to record."""

    index: int
    address: str
    # In virtual time only: which of the devices at that address.
    device_id: int = 0
    # Its number in P4Runtime, which requires one at addresses of one device, too.
    p4_id: int = 0
    # Whether to listen to the hosts there, too.
    tells_hosts: bool = False


@contextlib.contextmanager
def _listening(tape: Tape, target: _Target) -> Iterator[None]:
    """Takes what one router tells."""
    with grpc.insecure_channel(target.address, options=CHANNEL_OPTIONS) as channel:
        listener = _Listener(tape, target, channel)
        work = [listener.describe, listener.packets, listener.traces]
        if tape.interval_ms:
            work.append(listener.samples)
        if tape.interval_ms and target.tells_hosts:
            work.append(listener.hosts)
        # The world does not wait for tables: they are read beside it, and once more at the end.
        threads = [threading.Thread(target=each, daemon=True) for each in (*work, listener.program)]
        for thread in threads:
            thread.start()
        try:
            if target.device_id:
                listener.wait_for_all(len(work))
            yield
        finally:
            listener.read_last()
            listener.end()
            for thread in threads:
                thread.join()


@contextlib.contextmanager
def _listening_to_hosts(tape: Tape, address: str) -> Iterator[None]:
    """Records the reports of a live network's hosts, in the time of its first router."""
    with grpc.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
        listener = _Listener(tape, _Target(0, address), channel)
        thread = threading.Thread(target=listener.hosts, daemon=True)
        thread.start()
        try:
            yield
        finally:
            listener.end()
            thread.join()


class _Listener:
    """The calls at one router. A router that goes away ends them, and that is all."""

    def __init__(self, tape: Tape, target: _Target, channel: grpc.Channel) -> None:
        self._tape, self._target, self._channel = tape, target, channel
        # Streams that have begun.
        self._begun = threading.Semaphore(0)
        # The instant of the last message, for the order of the tape.
        self._now_ps = 0
        self._ending = threading.Event()
        # The ReadRequest for the router's last program, and its cookie; empty: there is none yet.
        self._wanted, self._cookie = b"", 0
        self._reading = threading.Lock()
        # The calls in flight.
        self._calls: set[Any] = set()
        self._changing_calls = threading.Lock()

    def end(self) -> None:
        """Nothing more is wanted."""
        with self._changing_calls:
            self._ending.set()
            for call in self._calls:
                call.cancel()

    def wait_for_all(self, count: int) -> None:
        """Returns when every stream has begun, so that time may pass."""
        for _ in range(count):
            self._begun.acquire(timeout=_FIRST_DEADLINE_S)

    def describe(self) -> None:
        """The configuration, each time that it is another one."""
        known = None
        look_s = _LOOK_VIRTUAL_S if self._target.device_id else _LOOK_S
        describe = self._channel.unary_unary(_DESCRIBE)
        request = router_pb2.DescribeRequest(device_id=self._target.device_id).SerializeToString()
        with contextlib.suppress(*_ENDS):
            while True:
                with self._call(lambda: describe.future(request, wait_for_ready=True)) as call:
                    answer = call.result()
                self._now_ps, settings = told(answer)
                if settings != known:
                    known = settings
                    self._take(DESCRIBE, answer)
                self._begun.release()
                if self._ending.wait(look_s):
                    return

    def samples(self) -> None:
        """Depths and drops, as long as there is room."""
        request = router_pb2.WatchRequest(
            interval_ms=self._tape.interval_ms,
            marks=True,
            links=True,
            head_bytes=HEAD_BYTES,
            device_id=self._target.device_id,
        )
        request.drops.SetInParent()
        for message in self._stream(_WATCH, request):
            self._take(SAMPLES, message)

    def packets(self) -> None:
        """Every packet, until there are enough."""
        request = router_pb2.WatchRequest(
            packets=True,
            arbitrations=True,
            head_bytes=HEAD_BYTES,
            device_id=self._target.device_id,
        )
        taken = 0
        for message in self._stream(_WATCH, request):
            self._take(PACKETS, message)
            taken += len(message)
            if taken > PACKETS_BYTES_MAX:
                return

    def hosts(self) -> None:
        """Records the reports of hosts, as long as there is room."""
        request = world_pb2.WatchHostsRequest(interval_ns=self._tape.interval_ms * 1_000_000)
        for message in self._stream(_WATCH_HOSTS, request):
            number, until_ps = next(quick.fields(message), (0, 0))
            # The service that reports live hosts describes no router.
            if number == _HOSTS_UNTIL and isinstance(until_ps, int):
                self._now_ps = max(self._now_ps, until_ps)
            self._take(HOSTS, message)

    def program(self) -> None:
        """The program, and again when it is another; its tables, every now and then."""
        while not self._ending.wait(_READ_S if self._wanted else _LOOK_VIRTUAL_S):
            # A router may have no program yet.
            with contextlib.suppress(*_ENDS):
                if self._wanted and self._config(_COOKIE).cookie.cookie == self._cookie:
                    self._read()
                else:
                    self._learn()

    def _learn(self) -> None:
        """Reads the program, and so the request for its tables."""
        config = self._config(_ALL)
        wanted = p4.ReadRequest(device_id=self._target.p4_id)
        wanted.entities.extend(readings.entities(config.p4info))
        self._take(
            PROGRAM, p4.GetForwardingPipelineConfigResponse(config=config).SerializeToString()
        )
        texts = sources.of_program(config.p4_device_config, self._tape.up.folders)
        self._take(SOURCES, json.dumps(texts).encode())
        self._wanted, self._cookie = wanted.SerializeToString(), config.cookie.cookie

    def _config(self, kind: Any) -> p4.ForwardingPipelineConfig:
        request = p4.GetForwardingPipelineConfigRequest(
            device_id=self._target.p4_id, response_type=kind
        )
        answer = self._answer(self._channel.unary_unary(_CONFIG), request.SerializeToString())
        return p4.GetForwardingPipelineConfigResponse.FromString(answer).config

    def _read(self) -> None:
        """All entries and cells, with the instant."""
        with self._reading:
            read = self._channel.unary_stream(_READ)
            with self._call(lambda: read(self._wanted, timeout=_READ_DEADLINE_S)) as call:
                # Entities of several messages are those of one: they are one after the other.
                message = _INSTANT.pack(self._time_ps()) + b"".join(call)
            entry = Entry(ENTRIES, self._target.index, message, self._now_ps)
            self._tape.take_reading(entry)

    def _time_ps(self) -> int:
        describe = self._channel.unary_unary(_DESCRIBE)
        request = router_pb2.DescribeRequest(device_id=self._target.device_id).SerializeToString()
        answer = self._answer(describe, request)
        self._now_ps = max(self._now_ps, told(answer)[0])
        return self._now_ps

    def _answer(self, ask: Any, request: bytes) -> bytes:
        def begin() -> Any:
            return ask.future(request, timeout=_READ_DEADLINE_S, wait_for_ready=True)

        with self._call(begin) as call:
            answer: bytes = call.result()
            return answer

    def read_last(self) -> None:
        """The final entries. A live router is gone by then: its last reading stays."""
        if not self._target.device_id:
            return
        with contextlib.suppress(*_ENDS):
            if not self._wanted:
                self._learn()
            self._read()

    def traces(self) -> None:
        """Some packets on their way through the program, now and then."""
        pause_s = _READ_S
        for number in itertools.count(1):
            self._follow()
            if number % _TIMES_A_PAUSE == 0:
                pause_s *= 2
            if self._ending.wait(pause_s):
                return

    def _follow(self) -> None:
        """The next few packets, to their end. In virtual time that is waited for, however long."""
        filters = [router_pb2.TraceFilter(frames_max=FOLLOWED)]
        request = router_pb2.TraceRequest(device_id=self._target.device_id, filters=filters)
        came = 0
        inside: set[int] = set()
        for message in self._stream(_TRACE, request, None if self._target.device_id else _FOLLOW_S):
            self._take(TRACE, message)
            for step in router_pb2.TraceResponse.FromString(message).steps:
                kind = step.WhichOneof("kind")
                came += kind == "received"
                (inside.discard if kind in _LAST_STEPS else inside.add)(step.packet)
            if came >= FOLLOWED and not inside:
                return

    def _stream(
        self, method: str, request: Message, deadline_s: float | None = None
    ) -> Iterator[bytes]:
        # Messages stay as they are: to read thousands a second would take the lab's own time.
        stream = self._channel.unary_stream(method)
        wanted = request.SerializeToString()
        with contextlib.ExitStack() as stack:
            # Releases the waiting thread, whether the stream has begun or never will.
            begun = contextlib.ExitStack()
            begun.callback(self._begun.release)
            stack.enter_context(contextlib.suppress(*_ENDS))
            stack.enter_context(begun)
            call = stack.enter_context(
                self._call(lambda: stream(wanted, timeout=deadline_s, wait_for_ready=True))
            )
            # Headers come when the request is in force.
            call.initial_metadata()
            begun.close()
            yield from call

    @contextlib.contextmanager
    def _call(self, begin: Callable[[], Any]) -> Iterator[Any]:
        """A call that ends with its reader, for a world waits for its readers; and with the
        listener, even if that ended before the call began."""
        with self._changing_calls:
            call = begin()
            self._calls.add(call)
            if self._ending.is_set():
                call.cancel()
        try:
            yield call
        finally:
            with self._changing_calls:
                self._calls.remove(call)
            call.cancel()

    def _take(self, kind: int, message: bytes) -> None:
        self._tape.take(Entry(kind, self._target.index, message, self._now_ps))


def told(description: bytes) -> tuple[int, list[tuple[int, int | bytes]]]:
    """When a router described itself, and what of that is set rather than counted.

    It is asked several times a second and seldom answers anything new; to read all of it each time
    would take Python a good part of 20 ms.
    """
    time_ps, settings = 0, []
    for number, value in quick.fields(description):
        if number == _NUMBERS["ports"] and isinstance(value, bytes):
            settings += [part for part in quick.fields(value) if part[0] in _PORT_SETTINGS]
        elif number in _SETTINGS:
            settings.append((number, value))
        elif number == _NUMBERS["time_ps"] and isinstance(value, int):
            time_ps = value
    return time_ps, settings
