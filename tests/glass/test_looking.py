"""The cost of pages that only look, to the network and the page that steers."""

import contextlib
import socket
from itertools import count
from types import SimpleNamespace

import pytest
from google.rpc import status_pb2
from vitrine.v1 import router_pb2
from websockets.exceptions import ConnectionClosedError, InvalidStatus

from labs.glass import looking, server
from labs.glass.relay import Requests
from labs.glass.scene import Router, Scene
from tests.glass.browser import DEADLINE_S
from tests.glass.router_double import RouterDouble
from tests.glass.serving import NETWORK, glass_of, glass_of_double
from tests.glass.test_server import HEAD, asked, frame, named, opened

WATCH = "/vitrine.v1.Router/Watch"
STREAM = "/p4.v1.P4Runtime/StreamChannel"
MIB = 1 << 20


def looked(glass, **more):
    """The socket of a page that only looks."""
    return opened(glass, token=glass._looking_token, **more)


def watches(socket, number, request=None, router="s2"):
    socket.send(frame(server.CALL, number, named(router) + named(WATCH)))
    request = request or router_pb2.WatchRequest(interval_ms=60_000)
    socket.send(frame(server.SEND, number, request.SerializeToString()))


def first_answer(socket, number):
    """The kind of the first frame of a call, and what it carries."""
    while True:
        answer = socket.recv(timeout=DEADLINE_S)
        kind, call = HEAD.unpack_from(answer)
        if call == number and kind != server.SCENE:
            return kind, answer[HEAD.size :]


class Remembering(RouterDouble):
    """Keeps the requests of its Watches."""

    def __init__(self):
        super().__init__()
        self.watches = []

    def Watch(self, request, context):  # noqa: N802
        self.watches.append(request)
        return super().Watch(request, context)


def test_a_watch_of_a_looking_page_may_always_lose():
    double = Remembering()
    with glass_of_double(host="0.0.0.0", double=double) as (glass, _):
        with looked(glass) as page:
            watches(page, 1, router_pb2.WatchRequest(interval_ms=7, packets=True, may_lose=False))
            assert first_answer(page, 1)[0] == server.MESSAGE
        with opened(glass) as page:
            watches(page, 1, router_pb2.WatchRequest(interval_ms=7, packets=True))
            assert first_answer(page, 1)[0] == server.MESSAGE
    assert [each.may_lose for each in double.watches] == [True, False]
    assert all(each.interval_ms == 7 and each.packets for each in double.watches)


@pytest.mark.parametrize(
    ("method", "sent"),
    # A text whose bytes are no UTF-8 is another error of protobuf's than broken fields are.
    [
        (WATCH, b"\xff\xff"),
        ("/vitrine.v1.World/WatchHosts", b"\x0a\x01\xff\x12\x01\xff\x1a\x01\xff"),
    ],
)
def test_bytes_that_are_no_request_are_refused_before_the_router(method, sent):
    double = Remembering()
    with glass_of_double(host="0.0.0.0", double=double) as (glass, _), looked(glass) as page:
        page.send(frame(server.CALL, 1, named("s2") + named(method)))
        page.send(frame(server.SEND, 1, sent))
        kind, rest = first_answer(page, 1)
    assert kind == server.REFUSED
    assert "no request of" in status_pb2.Status.FromString(rest).message
    assert double.watches == []


def test_one_looking_page_takes_few_places_of_a_router():
    with glass_of_double(host="0.0.0.0") as (glass, _), looked(glass) as page:
        for number in range(1, looking.WATCHES_OF_PAGE_MAX + 1):
            watches(page, number)
            assert first_answer(page, number)[0] == server.MESSAGE
        watches(page, 60)
        kind, rest = first_answer(page, 60)
        assert kind == server.REFUSED
        assert "streams of s2 open already" in status_pb2.Status.FromString(rest).message
        # A call that ends makes room for the next one.
        page.send(frame(server.CANCEL, 1))
        for number in count(61):
            watches(page, number)
            if first_answer(page, number)[0] == server.MESSAGE:
                break


def test_a_watch_of_the_double_ends_while_another_one_begins():
    double = RouterDouble()
    context = SimpleNamespace(
        is_active=lambda: True, send_initial_metadata=id, add_callback=lambda _: None
    )
    request = router_pb2.WatchRequest()
    beginning = double.Watch(request, context)
    assert next(beginning).HasField("start")
    # gRPC runs `ended` in the thread that would otherwise report that the start has been sent.
    assert not double.lock.locked()


def test_all_looking_pages_leave_places_to_pages_that_steer(monkeypatch):
    monkeypatch.setattr(looking, "WATCHES_MAX", 2)
    with (
        glass_of_double(host="0.0.0.0") as (glass, _),
        contextlib.ExitStack() as stack,
    ):
        *pages, last = [stack.enter_context(looked(glass)) for _ in range(3)]
        for page in pages:
            watches(page, 1)
            assert first_answer(page, 1)[0] == server.MESSAGE
        watches(last, 1)
        assert first_answer(last, 1)[0] == server.REFUSED
        with opened(glass) as steering:
            watches(steering, 1)
            assert first_answer(steering, 1)[0] == server.MESSAGE


def test_pages_that_look_are_few_enough(monkeypatch):
    monkeypatch.setattr(looking, "PAGES_MAX", 1)
    with glass_of_double(host="0.0.0.0") as (glass, _), looked(glass) as first:
        first.recv(timeout=DEADLINE_S)
        with pytest.raises(InvalidStatus) as refused, looked(glass):
            pass
        assert refused.value.response.status_code == 503
        with opened(glass) as steering:
            assert HEAD.unpack_from(steering.recv(timeout=DEADLINE_S))[0] == server.SCENE


def test_a_looking_page_sends_short_frames_only():
    with glass_of_double(host="0.0.0.0") as (glass, _):
        with looked(glass) as page, pytest.raises(ConnectionClosedError) as closed:
            page.send(frame(server.SEND, 1, bytes(looking.FRAME_BYTES_MAX)))
            while True:
                page.recv(timeout=DEADLINE_S)
        assert closed.value.rcvd.code == 1009
        # A page that steers sends whole programs.
        with opened(glass) as page:
            page.recv(timeout=DEADLINE_S)
            page.send(frame(server.SEND, 1, bytes(MIB)))
            assert asked(page, WATCH, router_pb2.WatchRequest(), router="s9")[1] == server.REFUSED


@pytest.mark.parametrize("method", [WATCH, "/vitrine.v1.Router/Dance"])
def test_a_call_without_a_stream_takes_one_message(method):
    requests = Requests(method)
    for _ in range(100):
        requests.put(bytes(MIB))
    assert requests.waiting_bytes == MIB


def test_messages_that_no_router_takes_end_their_page():
    # It accepts connections and never says a word.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        scene = Scene("live", [Router("s2", address, 0)], NETWORK, router="s2", port=2)
        with (
            glass_of(scene) as glass,
            opened(glass) as page,
            pytest.raises(ConnectionClosedError) as closed,
        ):
            page.send(frame(server.CALL, 1, named("s2") + named(STREAM)))
            for _ in range(8):
                page.send(frame(server.SEND, 1, bytes(4 * MIB)))
            while True:
                page.recv(timeout=DEADLINE_S)
    assert closed.value.rcvd.code == 1008
    assert "wait for routers" in closed.value.rcvd.reason


def test_too_many_calls_at_once_end_their_page():
    with (
        glass_of_double(host="0.0.0.0") as (glass, _),
        looked(glass) as page,
        pytest.raises(ConnectionClosedError) as closed,
    ):
        # Each waits for its request: none is refused before the next one comes.
        for number in range(1, 100):
            page.send(frame(server.CALL, number, named("s2") + named(WATCH)))
        while True:
            page.recv(timeout=DEADLINE_S)
    assert "calls at once" in closed.value.rcvd.reason
