"""`make glass`: opens the page for the network that is up; else for one in virtual time.

GLASS is the address to listen on: the machine's own unless it says otherwise, such as 0.0.0.0 for a
class to look at, which can then look and nothing else. LESSON is a lab whose lesson is to stand
beside the view. It ends with Ctrl-C.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import webbrowser
from collections.abc import Iterator

from controller.errors import ControllerError
from controller.toolchain import ROOT
from labs import routers
from labs.errors import LabError
from labs.glass import virtual
from labs.glass.scene import Router, Scene
from labs.glass.server import Glass

PORT = 8470
LOGS = ROOT / "build" / "log" / "glass"


def main() -> int:
    """Returns the exit status."""
    # Whoever ends this politely ends the world that it started, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with contextlib.suppress(KeyboardInterrupt), _scene() as scene:
            asyncio.run(_serve(scene, os.environ.get("GLASS") or "127.0.0.1"))
    except (ControllerError, LabError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    return 0


@contextlib.contextmanager
def _scene() -> Iterator[Scene]:
    """What there is to see; with no network up, the first scenario."""
    up = routers.up()
    if up.routers:
        yield scene_of(up)
        return
    print("No network is up: starting head-of-line blocking in virtual time.", flush=True)
    with virtual.hol_blocking(LOGS) as scene:
        yield scene


def scene_of(up: routers.Up) -> Scene:
    """What the network that is up has to show."""
    ids = {each["name"]: each["deviceId"] for each in up.network.get("routers", [])}
    return Scene(
        world="live",
        routers=[Router(name, address, ids.get(name, 0)) for name, address in up.routers.items()],
        network=up.network,
        router=up.router,
        port=up.port,
        lesson=os.environ.get("LESSON", ""),
    )


async def _serve(scene: Scene, host: str) -> None:
    is_own = host == "127.0.0.1"
    async with contextlib.AsyncExitStack() as stack:
        try:
            glass = await stack.enter_async_context(
                Glass(scene, host=host, port=PORT, read_only=not is_own)
            )
        except OSError:
            # Another glass has the port: this one takes any.
            glass = await stack.enter_async_context(Glass(scene, host=host, read_only=not is_own))
        print(f"The glass: {glass.url}", flush=True)
        if not is_own:
            print(
                f"Everybody who can reach {host} and is given this address can look, and change "
                "nothing.",
                flush=True,
            )
        elif os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
            webbrowser.open(glass.url)
        await asyncio.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
