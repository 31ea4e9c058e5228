"""A page that reads nothing for a while; others let the time of its virtual network pass."""

import socket
import subprocess

import pytest
from vitrine.v1 import router_pb2

from controller.world import PS_PER_S, World
from labs.glass import server, virtual
from labs.worlds.virtual.server import BINARY
from tests.glass.browser import DEADLINE_S
from tests.glass.serving import glass_of
from tests.glass.test_server import HEAD, frame, named, opened

pytestmark = pytest.mark.skipif(
    not BINARY.exists() or subprocess.run([BINARY, "serve", "--help"]).returncode != 0,
    reason=f"{BINARY} has no `serve`: run make build",
)
WATCH = "/vitrine.v1.Router/Watch"
# Of this much there is more than what may wait on the whole way to the page.
SPAN_S = 40


def test_time_goes_on_for_others_and_the_page_is_told_what_it_missed(tmp_path, monkeypatch):
    # A busy machine takes long for the span, and the server would take the page for gone.
    monkeypatch.setattr(server, "_GONE_S", 10 * DEADLINE_S)
    with virtual.showing(virtual.FIRST, tmp_path) as scene, glass_of(scene) as glass:
        (router,) = [each for each in scene.routers if each.name == scene.router]
        watch = router_pb2.WatchRequest(
            device_id=router.device_id,
            interval_ms=1,
            packets=True,
            head_bytes=48,
            may_lose=True,
        )
        with socket.socket() as narrow, World.connect(scene.world_address) as world:
            narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            narrow.connect(("127.0.0.1", glass.port))
            # A page that does not read does not answer pings: on a busy machine that is long.
            with opened(glass, sock=narrow, max_queue=1, ping_interval=None) as page:
                page.send(frame(server.CALL, 1, named(router.name) + named(WATCH)))
                page.send(frame(server.SEND, 1, watch.SerializeToString()))
                # The page does not read. A world that had to wait would do so for half a minute,
                # and then end the stream.
                found = read_until(page, world.advance(SPAN_S * PS_PER_S).time_ps)
                # The next sample that arrives reports the missing ones.
                later = read_until(page, world.advance(PS_PER_S // 100).time_ps)
                assert found["lost"] > 0
                assert found["missed"] + later["missed"] > 0


def read_until(page, until_ps):
    """The losses reported to a page until `until_ps`; the end of the stream is an error."""
    found = {"lost": 0, "missed": 0}
    while True:
        message = page.recv(timeout=DEADLINE_S)
        kind, number = HEAD.unpack_from(message)
        if number != 1:
            continue
        assert kind == server.MESSAGE, message
        told = router_pb2.WatchResponse.FromString(message[HEAD.size :])
        found["lost"] += told.lost_events
        found["missed"] += told.sample.missed
        if told.complete_until_ps >= until_ps:
            return found
