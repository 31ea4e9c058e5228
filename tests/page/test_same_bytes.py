"""A run tells the same in a browser as in `vitrine-sim`: to the byte, whatever its seed."""

import base64
import contextlib
import hashlib
import os
import threading

import pytest
from vitrine.v1 import router_pb2, world_pb2

from labs.glass import relay
from labs.worlds.virtual import server
from tests.glass.browser import needs_browser, page_of, serve_modules
from tests.page.conftest import MODULE_ADDRESS, needs_module
from tests.page.in_a_process import ADVANCE, ask, begun

pytestmark = [needs_browser, needs_module]
# `make nightly` does as many as the issue requires.
SEEDS = range(1, 1 + int(os.environ.get("VITRINE_PAGE_SEEDS", "3")))
DEADLINE_S = 120
PS_PER_MS = 10**9
# The congested output, everything of the hosts, and every frame on a cable with all flows.
STREAMS = [
    (
        "/vitrine.v1.Router/Watch",
        router_pb2.WatchRequest(
            device_id=2,
            interval_ms=10,
            queues=[router_pb2.QueueRef(port=2)],
            drops=router_pb2.DropFilter(),
            packets=True,
            head_bytes=64,
        ),
        router_pb2.WatchResponse,
    ),
    (
        "/vitrine.v1.World/WatchHosts",
        world_pb2.WatchHostsRequest(interval_ns=10_000_000, events=True),
        world_pb2.WatchHostsResponse,
    ),
    (
        "/vitrine.v1.World/Capture",
        world_pb2.CaptureRequest(ports=[world_pb2.CableEnd(node="s2", port=1)]),
        world_pb2.CaptureResponse,
    ),
]
ADVANCES = [world_pb2.AdvanceRequest(span_ps=100 * PS_PER_MS) for _ in range(3)]


@pytest.mark.parametrize(
    "seed", [SEEDS[0], *(pytest.param(seed, marks=pytest.mark.nightly) for seed in SEEDS[1:])]
)
def test_a_run_tells_the_same_in_the_page_as_in_a_process(seed, kit, chromium, tmp_path):
    scenario = _scenario(kit, seed)
    with page_of(chromium) as page:
        serve_modules(page)
        told = page.evaluate(
            "async (given) => (await import('/tests/page/told.js')).told(given)",
            {
                "module": MODULE_ADDRESS,
                "schema": _text(relay.schema()),
                "kit": kit["files"],
                "scenario": scenario,
                "streams": [
                    [method, _text(request.SerializeToString())] for method, request, _ in STREAMS
                ],
                "advances": [_text(each.SerializeToString()) for each in ADVANCES],
            },
        )
    in_the_page = [[base64.b64decode(each) for each in stream] for stream in told]
    with server.serving(tmp_path / "world.log") as address:
        in_a_process = _run(address, scenario)
    for (method, _, kind), one, other in zip(STREAMS, in_the_page, in_a_process, strict=True):
        assert _hash(kind, one) == _hash(kind, other), method


def _scenario(kit, seed):
    """Head-of-line blocking from its slow start on; dice give hosts their ports and numbers."""
    found = next(each for each in kit["scenarios"] if each["name"] == "hol-blocking")
    build = world_pb2.BuildRequest.FromString(base64.b64decode(found["build"]))
    build.seed = seed
    changed = _text(build.SerializeToString())
    return {**found, "build": changed, "settled_ps": 200 * PS_PER_MS}


def _run(address, scenario):
    """The messages of each stream."""
    with contextlib.ExitStack() as stack:
        channel = stack.enter_context(begun(address, scenario))
        told, readers = [[] for _ in STREAMS], []
        until_ps = scenario["settled_ps"] + sum(each.span_ps for each in ADVANCES)
        for (method, request, kind), found in zip(STREAMS, told, strict=True):
            stream = channel.unary_stream(method)(request.SerializeToString())
            # From here on it tells everything.
            stream.initial_metadata()
            stack.callback(stream.cancel)
            reader = threading.Thread(target=_read, args=(stream, kind, until_ps, found))
            reader.start()
            readers.append(reader)
        for each in ADVANCES:
            ask(channel, ADVANCE, each.SerializeToString())
        for reader in readers:
            reader.join(DEADLINE_S)
        return told


def _read(stream, kind, until_ps, found):
    for message in stream:
        found.append(message)
        if kind.FromString(message).complete_until_ps == until_ps:
            return


def _hash(kind, messages):
    """Of everything that a stream tells; into how many messages that is cut is left open."""
    digest, count = hashlib.sha256(), 0
    for message in map(kind.FromString, messages):
        told = [*getattr(message, "events", [])]
        if getattr(message, "sample", None) is not None and message.HasField("sample"):
            told.append(message.sample)
        pieces = [each.SerializeToString(deterministic=True) for each in told]
        for piece in [*pieces, getattr(message, "pcapng", b"")]:
            digest.update(piece)
            count += len(piece) > 0
    assert count > 10, "there was something to tell"
    return digest.hexdigest()


def _text(message):
    return base64.b64encode(message).decode()
