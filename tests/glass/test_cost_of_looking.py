"""The cost of pages that only look, to routers and the page that steers, in simulated time.

Each seed is a history: pages that send any reading request, cancel it, or read no answer at all; a
router whose answers take their time; and a page that steers meanwhile. VITRINE_LOOKING_SEEDS sets
how many histories there are.
"""

import asyncio
import functools
import os
import random
import selectors
from collections import Counter

import pytest
from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor as Field

from labs.glass import looking, relay, server
from labs.glass.relay import READING, Relay
from tests.glass.test_server import HEAD, frame, named

SEEDS = int(os.environ.get("VITRINE_LOOKING_SEEDS", "8"))
PAGES = 16
STEERING = "/vitrine.v1.World/Advance"
# The router carries out one call after the other; each message of an answer takes this.
MESSAGE_S = 0.01
MESSAGES_MAX = 8
MESSAGE_BYTES = 400_000


class SimulatedSelector(selectors.DefaultSelector):
    """Lets time pass at once where a real loop would wait."""

    loop: "SimulatedLoop"

    def select(self, timeout=None):
        events = super().select(0)
        if not events:
            assert timeout is not None, "everybody waits for ever"
            self.loop.now_s += timeout
        return events


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop with a clock of its own."""

    now_s = 0.0

    def __init__(self):
        selector = SimulatedSelector()
        selector.loop = self
        super().__init__(selector)

    def time(self):
        return self.now_s


async def simulated(seconds):
    """Lets simulated time pass."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    timer = loop.call_later(seconds, over.set_result, None)
    try:
        await over
    finally:
        timer.cancel()


def request_types():
    """The class of each method's request."""
    return {
        f"/{service.full_name}/{method.name}": message_factory.GetMessageClass(method.input_type)
        for file in relay.FILES
        for service in file.services_by_name.values()
        for method in service.methods
    }


def filled(message, dice, depth=0):
    """Any value in any of the message's fields."""
    for field in message.DESCRIPTOR.fields:
        if dice.random() < 0.5:
            continue
        repeated = field.is_repeated if hasattr(field, "is_repeated") else field.label == 3
        if field.cpp_type == Field.CPPTYPE_MESSAGE:
            if depth < 3 and not field.message_type.GetOptions().map_entry:
                inner = getattr(message, field.name)
                filled(inner.add() if repeated else inner, dice, depth + 1)
                if not repeated:
                    inner.SetInParent()
            continue
        value = value_of(field, dice)
        if repeated:
            getattr(message, field.name).append(value)
        else:
            setattr(message, field.name, value)
    return message


def value_of(field, dice):
    kinds = {
        Field.CPPTYPE_BOOL: lambda: dice.random() < 0.5,
        Field.CPPTYPE_DOUBLE: dice.random,
        Field.CPPTYPE_ENUM: lambda: dice.choice(field.enum_type.values).number,
        Field.CPPTYPE_FLOAT: dice.random,
        Field.CPPTYPE_STRING: lambda: "x" * dice.randrange(20),
    }
    if field.type == Field.TYPE_BYTES:
        return bytes(dice.randrange(20))
    return kinds.get(field.cpp_type, lambda: dice.choice([0, 1, 2**31 - 1]))()


class SimulatedRouter:
    """One thread that carries out calls in the order in which they come, and Watches beside it."""

    def __init__(self, dice):
        self.dice = dice
        self.turn = asyncio.Lock()
        self.under_way = Counter()
        self.most = Counter()
        self.patient = 0

    def begin(self, kind):
        self.under_way[kind] += 1
        self.most[kind] = max(self.most[kind], self.under_way[kind])

    def unary_unary(self, method):
        async def call(request, metadata=None):
            kind = "steering" if method == STEERING else "read"
            self.begin(kind)
            try:
                async with self.turn:
                    await simulated(MESSAGE_S)
            finally:
                self.under_way[kind] -= 1
            return b"answer"

        return call

    def unary_stream(self, method):
        if method in looking.WATCHES:
            return functools.partial(self.watch, looking.WATCHES[method])
        return lambda _: Streamed(self, "read", self.messages())

    def watch(self, request_type, request):
        self.patient += not request_type.FromString(request).may_lose
        return Streamed(self, "watch", self.samples())

    async def samples(self):
        while True:
            await simulated(10 * MESSAGE_S)
            yield b"sample"

    async def messages(self):
        count = self.dice.randrange(MESSAGES_MAX)
        async with self.turn:
            # A real one sends on while the reader is slow, into its own buffers.
            await simulated(count * MESSAGE_S)
        for _ in range(count):
            yield bytes(MESSAGE_BYTES)

    async def close(self):
        pass


class Streamed:
    """A call whose answer is a stream, until it is cancelled."""

    def __init__(self, router, kind, messages):
        self.router, self.kind, self.messages = router, kind, messages
        self.is_over = False
        router.begin(kind)

    def __aiter__(self):
        return self.messages

    def cancel(self):
        self.router.under_way[self.kind] -= not self.is_over
        self.is_over = True


class Page:
    """The browser's side of a socket: it takes messages, slowly or never."""

    def __init__(self, dice):
        self.taken = []
        self.pace_s = dice.choice([0, 0.05, None])

    async def send(self, message):
        if self.pace_s is None and len(self.taken) > 2:
            await simulated(1e6)
        await simulated(self.pace_s or 0)
        self.taken.append(message)

    def ends(self):
        """The calls that have ended."""
        heads = [HEAD.unpack_from(each) for each in self.taken]
        return {number for kind, number in heads if kind in (server.END, server.REFUSED)}


async def history(seed, monkeypatch):
    dice = random.Random(seed)
    router = SimulatedRouter(dice)
    monkeypatch.setattr(relay.grpc.aio, "insecure_channel", lambda *_, **__: router)
    places, reads = looking.Places(looking.WATCHES_MAX), looking.Reads()
    types = request_types()

    def calls_of(page, *, read_only):
        way = Relay(read_only=read_only, places=places, reads=reads)
        way.leads_to({"s1": "192.0.2.1:1", server.WORLD: "192.0.2.1:1"})
        return server._Calls(page, way)

    pages = [Page(dice) for _ in range(PAGES)]
    looks = [calls_of(page, read_only=True) for page in pages]
    steering = Page(dice)
    steering.pace_s = 0
    steers = calls_of(steering, read_only=False)
    for number in range(1, 41):
        for calls in looks:
            method = dice.choice(sorted(READING))
            asked = filled(types[method](), dice).SerializeToString()
            if len(calls._tasks) < 60:
                calls.take(frame(server.CALL, number, named("s1") + named(method)))
                calls.take(frame(server.SEND, number, asked))
            if dice.random() < 0.3:
                calls.take(frame(server.CANCEL, dice.randrange(1, number + 1)))
        began = asyncio.get_running_loop().time()
        steers.take(frame(server.CALL, number, named(server.WORLD) + named(STEERING)))
        steers.take(frame(server.SEND, number, b""))
        while number not in steering.ends():
            await simulated(MESSAGE_S)
        waited = asyncio.get_running_loop().time() - began
        # Behind a few reads, each of which is as long as an answer may be.
        assert waited <= (looking.READS_MAX + 2) * MESSAGES_MAX * MESSAGE_S, f"seed {seed}"
    for calls in (*looks, steers):
        await calls.end()
    return router, pages


def test_any_history_of_pages_that_look_costs_others_little(monkeypatch):
    for seed in range(SEEDS):
        loop = SimulatedLoop()
        try:
            router, pages = loop.run_until_complete(history(seed, monkeypatch))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()
        assert router.most["read"] <= looking.READS_MAX, f"seed {seed}"
        assert router.most["watch"] <= looking.WATCHES_MAX, f"seed {seed}"
        assert router.patient == 0, f"seed {seed}: a Watch that cannot lose"
        assert not +router.under_way, f"seed {seed}: calls that outlive their pages"
        # Nobody who reads is left without an answer.
        assert all(page.ends() for page in pages if page.pace_s == 0), f"seed {seed}"


def test_an_answer_that_is_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(looking, "ANSWER_BYTES_MAX", 1 << 20)

    async def answers():
        for _ in range(3):
            yield bytes(400_000)

    async def read():
        return [each async for each in looking.Reads().of_page().all_of(answers())]

    with pytest.raises(looking.RefusedError, match="reads at most 1 MiB"):
        asyncio.run(read())


class SilentRouter(SimulatedRouter):
    """It takes calls and answers none."""

    async def messages(self):
        await simulated(1e6)
        yield b"too late"


READ = "/p4.v1.P4Runtime/Read"


def reads(calls, number, router, *, request=b""):
    calls.take(frame(server.CALL, number, named(router) + named(READ)))
    if request is not None:
        calls.take(frame(server.SEND, number, request))


@pytest.mark.parametrize("kept", ["request", "answer"])
def test_a_page_reads_while_calls_of_others_never_end(monkeypatch, kept):
    """Pages hold as many reads as there are turns: without a request, or at a silent router."""
    dice = random.Random(1)
    routers = {"192.0.2.1:1": SimulatedRouter(dice), "192.0.2.2:1": SilentRouter(dice)}
    monkeypatch.setattr(relay.grpc.aio, "insecure_channel", lambda address, **_: routers[address])
    places, turns = looking.Places(looking.WATCHES_MAX), looking.Reads()

    def calls_of(page):
        way = Relay(read_only=True, places=places, reads=turns)
        way.leads_to({"s1": "192.0.2.1:1", "s2": "192.0.2.2:1"})
        return server._Calls(page, way)

    async def a_page_reads():
        others = [calls_of(Page(dice)) for _ in range(looking.READS_MAX)]
        for each in others:
            if kept == "request":
                reads(each, 1, "s1", request=None)
            else:
                reads(each, 1, "s2")
        await simulated(1)
        page = Page(dice)
        page.pace_s = 0
        calls = calls_of(page)
        reads(calls, 1, "s1")
        await simulated(looking.SILENCE_S_MAX + 1)
        for each in (*others, calls):
            await each.end()
        return page.ends()

    loop = SimulatedLoop()
    try:
        assert loop.run_until_complete(a_page_reads()) == {1}
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
