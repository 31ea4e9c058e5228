"""`vitrine glass`: opens the page for the network that is up; else for one in virtual time.

At the address `share`, such as 0.0.0.0, a class may look and nothing else; the page that steers
stays on this machine. `lesson` is the lab whose lesson stands beside the view. Ctrl-C ends it.

As a program it serves whatever network is up, one after the other, until its input ends: `beside`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence

from controller import routers
from controller.addresses import parted
from controller.connection import refuse_others
from controller.errors import ControllerError
from controller.toolchain import ROOT
from labs.archive import RESULTS
from labs.errors import LabError
from labs.glass import desktop
from labs.glass.scene import Router, Scene
from labs.glass.server import Glass
from topo import ending, kernel

PORT = 8470
LOGS = ROOT / "build" / "log" / "glass"
OWN = "127.0.0.1"
OPEN_WORDS = (
    "OPEN TO THE NETWORK: anyone who reaches this machine and has the",
    "address for the class sees everything that is shown, unencrypted,",
    "and can change nothing. Leave --share out to keep it closed.",
)


def show(share: str | None, lesson: str) -> None:
    """Serves the page until Ctrl-C."""
    # SIGTERM ends the world that this started, too.
    with (
        ending.as_exit(),
        contextlib.suppress(KeyboardInterrupt),
        _scene(lesson) as scene,
    ):
        asyncio.run(_serve(scene, share or OWN))


def main(arguments: Sequence[str]) -> int:
    """The page beside a run; returns the exit status."""
    parser = argparse.ArgumentParser(prog="glass", description=main.__doc__)
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--share", default=OWN)
    given = parser.parse_args(arguments)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve_beside(given.share, opens=given.open))
    except (ControllerError, LabError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    return 0


@contextlib.contextmanager
def _scene(lesson: str) -> Iterator[Callable[[], Scene]]:
    """The scene of the network; with no network up, the first scenario."""
    up = routers.up()
    if up.routers:
        refuse_others(up.first)
        yield lambda: scene_of_now(lesson)
        return
    # Imported here: the page beside a run needs no lab of its own.
    from labs.glass import virtual

    lesson = lesson or virtual.FIRST
    # One that there is not is refused before anything is said to start.
    virtual.named(lesson)
    print(f"No network is up: starting that of {lesson} in virtual time.", flush=True)
    with virtual.showing(lesson, LOGS) as scene:
        yield lambda: scene


def scene_of_now(lesson: str = "") -> Scene:
    """The scene of the network that is up."""
    up = routers.up()
    ids = {each["name"]: each["deviceId"] for each in up.network.get("routers", [])}
    # Routers in virtual time share one address and are distinguished behind a slash.
    place, _ = parted(up.first)
    return Scene(
        world=up.world,
        routers=[Router(name, address, ids.get(name, 0)) for name, address in up.routers.items()],
        network=up.network,
        router=up.router,
        port=up.port,
        lesson=lesson,
        world_address=place if up.world == "virtual" else "",
        hosts_address=up.hosts,
        hosts_key=up.hosts_key,
        controls=kernel.congestion_controls() if up.hosts_key else (),
        folders=up.folders,
        began_ns=up.began_ns,
    )


async def _serve(scene: Callable[[], Scene], host: str) -> None:
    async with contextlib.AsyncExitStack() as stack:
        glass = await _open(stack, scene, host)
        _say(glass)
        if glass.url:
            stack.enter_context(desktop.shown(glass.url, RESULTS))
        await asyncio.Event().wait()


async def _serve_beside(host: str, *, opens: bool) -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, ended.set)
    async with contextlib.AsyncExitStack() as stack:
        glass = await _open(stack, scene_of_now, host)
        _say(glass)
        print(flush=True)
        if opens and glass.url:
            stack.enter_context(desktop.shown(glass.url, RESULTS))
        await ended.wait()


async def _open(stack: contextlib.AsyncExitStack, scene: Callable[[], Scene], host: str) -> Glass:
    try:
        return await stack.enter_async_context(Glass(scene, host=host, port=PORT))
    except OSError:
        # Another glass has the port: this one takes any.
        return await stack.enter_async_context(Glass(scene, host=host))


def _say(glass: Glass) -> None:
    if glass.url:
        print(f"The glass: {glass.url}", flush=True)
    if glass.looking_urls:
        print("\n".join(_framed(OPEN_WORDS)), flush=True)
        for url in glass.looking_urls:
            print(f"For the class: {url}", flush=True)


def _framed(words: Sequence[str]) -> list[str]:
    width = max(map(len, words))
    edge = "#" * (width + 4)
    return [edge, *(f"# {each:{width}} #" for each in words), edge]


if __name__ == "__main__":
    # SIGTERM or a closed terminal ends the world that this process started, too.
    with ending.as_exit():
        sys.exit(main(sys.argv[1:]))
