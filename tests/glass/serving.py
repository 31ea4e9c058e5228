"""A glass with a double behind it, in a thread of its own."""

import asyncio
import contextlib
import threading
from collections.abc import Callable

from labs.glass.scene import Router, Scene
from labs.glass.server import Glass
from tests.controller import device_double
from tests.glass.browser import DEADLINE_S
from tests.glass.router_double import RouterDouble

# As labs/hol_blocking/topology.yaml, one router of it.
NETWORK = {
    "hosts": [{"name": f"h{i}", "addresses": [f"10.0.{i}.1"]} for i in range(1, 6)],
    "routers": [{"name": "s1", "deviceId": 0}, {"name": "s2", "deviceId": 1}],
    "cables": [
        [{"node": "h1", "port": None}, {"node": "s1", "port": 1}],
        [{"node": "h2", "port": None}, {"node": "s1", "port": 2}],
        [{"node": "h3", "port": None}, {"node": "s1", "port": 3}],
        [{"node": "s1", "port": 4}, {"node": "s2", "port": 1}],
        [{"node": "h4", "port": None}, {"node": "s2", "port": 2}],
        [{"node": "h5", "port": None}, {"node": "s2", "port": 3}],
    ],
}


@contextlib.contextmanager
def glass_of(scene: Scene | Callable[[], Scene], **options):
    """The address of a page, for the length of a `with` block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def run(coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(timeout=DEADLINE_S)

    glass = Glass(scene if callable(scene) else lambda: scene, **options)
    try:
        run(glass.__aenter__())
        try:
            yield glass
        finally:
            run(glass.__aexit__())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=DEADLINE_S)
        loop.close()


@contextlib.contextmanager
def glass_of_double(*, network=NETWORK, double=None, **options):
    """A glass, and the double that it shows: one five times as slow as the clock, unless given."""
    double = double or RouterDouble(slowness=5.0)
    with device_double.serving(double, double.handler) as address:
        scene = Scene("live", [Router("s2", address, 0)], network, router="s2", port=2)
        with glass_of(scene, **options) as glass:
            yield glass, double
