"""`make pictures`: takes the pictures of the page that docs show, in networks in virtual time.

    python -m tests.glass.pictures [FOLDER] [light|dark]

Without a folder they go into docs. That of a live network, docs/glass-live.png, is taken where this
machine can have one.
"""

import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from controller import routers
from controller.toolchain import ROOT
from controller.world import PS_PER_S, World
from labs.glass import tape, virtual
from labs.glass.__main__ import scene_of_now
from labs.hol_blocking.lab import CONGESTED
from labs.score import replay
from labs.score.run import Bench
from labs.score.systems import named
from labs.score.workloads import WORKLOADS
from tests.glass.browser import browser, page_of
from tests.glass.serving import glass_of
from tests.live import networks
from topo import preflight
from topo.errors import MachineError

BLOCKED = ".notice.found"
# So long curves of a live network grow before their picture is taken.
LIVE_MS = 12_000


def main(folder: Path, scheme: str) -> int:
    """Returns the exit status."""
    folder.mkdir(parents=True, exist_ok=True)
    with browser() as chromium, tempfile.TemporaryDirectory() as logs:
        for lesson, takes in TAKES.items():
            for name, take in takes.items():
                with showing(chromium, lesson, Path(logs), scheme) as page:
                    take(page)
                    page.screenshot(path=folder / f"{name}.png")
                print(f"{folder / name}.png", flush=True)
        with recorded(chromium, Path(logs), scheme) as page:
            page.screenshot(path=folder / "glass-recorded.png")
        with replayed(chromium, Path(logs), scheme) as page:
            page.screenshot(path=folder / "glass-beliefs.png")
        try:
            preflight.check_machine()
        except MachineError as error:
            print(f"glass-live.png stays as it is: {error}", flush=True)
            return 0
        with live(chromium, Path(logs), scheme) as page:
            page.screenshot(path=folder / "glass-live.png")
    return 0


@contextlib.contextmanager
def showing(chromium, lesson: str, logs: Path, scheme: str) -> Iterator:
    """A page before the network of a lesson."""
    with (
        virtual.showing(lesson, logs) as scene,
        glass_of(scene) as glass,
        page_of(chromium, color_scheme=scheme) as page,
    ):
        page.goto(glass.url)
        page.wait_for_function(
            "() => window.vitrine?.player.timePs > window.vitrine?.player.startPs + 1e9"
        )
        yield page


@contextlib.contextmanager
def recorded(chromium, logs: Path, scheme: str) -> Iterator:
    """A recording of a third of a second, with its tables, before its end."""
    with virtual.showing(virtual.FIRST, logs) as scene:
        addresses = {each.name: f"{each.address}/{each.device_id}" for each in scene.routers}
        up = routers.Up(addresses, router="s2", port=CONGESTED, network=scene.network)
        told = tape.Tape("hol-blocking")
        with World.connect(scene.world_address) as world, tape.listening(told, up):
            world.advance(round(0.3 * PS_PER_S))
    file = logs / "inside.html"
    told.write(file)
    with page_of(chromium, color_scheme=scheme) as page:
        page.goto(file.as_uri())
        page.keyboard.press("2")
        page.keyboard.press("Space")
        page.evaluate("vitrine.player.setPace(0.02)")
        page.evaluate("vitrine.player.seek(vitrine.player.toldPs - 3e10)")
        page.get_by_role("tab", name="Program").click()
        page.get_by_role("button", name="Tables", exact=True).click()
        page.locator("details[data-table=ipv4_routes] summary").click()
        settled(page)
        yield page


@contextlib.contextmanager
def replayed(chromium, logs: Path, scheme: str) -> Iterator:
    """A burst that some systems know of already, before others."""
    file = logs / "replay.html"
    names = ("postcards", "conquest", "printqueue", "hashpipe", "countmin", "polling-1ms")
    with Bench(logs / "score.log") as bench:
        replay.write(bench, [named(each) for each in names], WORKLOADS["microburst"], file)
    with page_of(chromium, color_scheme=scheme) as page:
        page.goto(f"{file.as_uri()}#at=0.0342")
        settled(page)
        yield page


@contextlib.contextmanager
def live(chromium, logs: Path, scheme: str) -> Iterator:
    """Real routers and hosts, whose kernels report their windows, with the list of their flows."""
    with networks.hol_blocking(logs) as network:
        networks.begin_flows(network)
        with (
            glass_of(scene_of_now()) as glass,
            page_of(chromium, color_scheme=scheme) as page,
        ):
            page.goto(glass.url)
            page.wait_for_selector(BLOCKED)
            page.get_by_role("tab", name="Flows").click()
            page.get_by_text("seen, not started by a page").nth(2).wait_for()
            page.wait_for_timeout(LIVE_MS)
            settled(page)
            yield page


def settled(page) -> None:
    """Text and curves follow the picture by a tenth of a second."""
    page.mouse.move(5, 5)
    page.evaluate("vitrine.slow()")
    page.wait_for_timeout(400)


def blocking(page) -> None:
    """Packets that wait behind one for a busy output."""
    page.wait_for_selector(BLOCKED)
    page.keyboard.press("Space")
    settled(page)


def arbiter(page) -> None:
    """An output that grants."""
    page.get_by_role("button", name="Give every output its own queue").click()
    page.wait_for_function("() => vitrine.routerView.now?.about.input.queueing === 'VOQ'")
    page.evaluate("vitrine.player.setPace(2e-4)")
    page.wait_for_function(
        "() => vitrine.model.insides.steps.some(({ kind }) => kind === 'arbitration')"
    )
    page.keyboard.press("Space")
    page.get_by_label("Step by").select_option("slot")
    page.locator(".time .now").click()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    settled(page)


def program(page) -> None:
    """Source lines that packets ran."""
    page.get_by_role("tab", name="Program").click()
    page.get_by_role("button", name="Follow 50 packets").click()
    page.evaluate("vitrine.player.setPace(0.005)")
    page.wait_for_selector("text=50 packets were followed")
    page.evaluate("vitrine.player.pause()")
    settled(page)


def life(page) -> None:
    """A packet's way through the program."""
    page.wait_for_selector(BLOCKED)
    page.wait_for_function("() => vitrine.stage.spots.length > 3")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("n")
    page.get_by_role("button", name="Follow the next one through the program").click()
    page.evaluate("vitrine.player.setPace(0.01)")
    page.get_by_text("As it left: ").wait_for()
    page.evaluate("vitrine.player.pause()")
    page.get_by_text("control/routing.p4:").nth(4).scroll_into_view_if_needed()
    settled(page)


def network(page) -> None:
    """All of it, from outside."""
    page.wait_for_selector(BLOCKED)
    page.keyboard.press("0")
    page.evaluate("vitrine.player.setPace(0.02)")
    page.wait_for_function("() => vitrine.player.timePs > 2.3e12")
    page.keyboard.press("Space")
    settled(page)


def presented(page) -> None:
    """On a projector, with a step of the lesson."""
    page.wait_for_selector(BLOCKED)
    page.keyboard.press("p")
    page.keyboard.press("Space")
    settled(page)


def phone(page) -> None:
    """Upright, in a pocket's size."""
    page.set_viewport_size({"width": 390, "height": 844})
    blocking(page)


def lesson(page) -> None:
    """RED's thresholds and average, with drops."""
    page.get_by_role("button", name="Manage it with RED").click()
    page.evaluate("vitrine.player.setPace(0.2)")
    begun = page.evaluate("vitrine.player.timePs")
    page.wait_for_function("begun => vitrine.player.timePs > begun + 2e12", arg=begun)
    page.wait_for_function(
        """() => vitrine.routerView.now?.state?.drops
             .some(({ timePs }) => vitrine.player.timePs - timePs < 1e11)"""
    )
    page.keyboard.press("Space")
    settled(page)


TAKES: dict[str, dict[str, Callable]] = {
    virtual.FIRST: {
        "glass": blocking,
        "glass-arbiter": arbiter,
        "glass-program": program,
        "glass-life": life,
        "glass-network": network,
        "glass-presented": presented,
        "glass-phone": phone,
    },
    "queue-management": {"glass-lesson": lesson},
}


if __name__ == "__main__":
    place, scheme = [*sys.argv[1:], *("", "light")[len(sys.argv) - 1 :]]
    sys.exit(main(Path(place) if place else ROOT / "docs", scheme))
