"""A page in every world: with a live router, a network in virtual time, a recording."""

import contextlib

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from controller import routers
from labs.glass import tape, virtual
from tests.controller import device_double
from tests.glass.browser import needs_browser, page_of
from tests.glass.router_double import RouterDouble
from tests.glass.serving import NETWORK, glass_of, glass_of_double
from topo import wait

pytestmark = needs_browser
BLOCKED = "Head-of-line blocking"
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
# More than an arbitration has.
PHASES_MAX = 40
# Words of the picture that lie on others, or beyond its edge.
MIXED_UP = """
() => {
  const { width } = vitrine.stage.size, left = vitrine.stage.box.getBoundingClientRect().left;
  const words = [...document.querySelectorAll(".labels > *")].filter((each) => each.textContent)
    .map((each) => ({ text: each.textContent, box: each.getBoundingClientRect() }));
  const outside = words.filter(({ box }) => box.left < left - 1 || box.right > left + width + 1);
  const pairs = words.flatMap((one, at) => words.slice(at + 1).filter((other) =>
    Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left) > 1
    && Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top) > 1)
    .map((other) => `${one.text} on ${other.text}`));
  return [...outside.map(({ text }) => `${text} outside`), ...pairs];
}
"""
# Whether three instants with events precede the one in view, so that one can step back twice.
HAS_A_PAST = """
() => {
  const { insides } = vitrine.model;
  let at = vitrine.player.timePs;
  for (let steps = 0; steps < 3 && at !== undefined; steps++) at = insides.previous(at);
  return at > vitrine.player.startPs;
}
"""
TABLET = {"viewport": {"width": 810, "height": 1080}, "has_touch": True}


@contextlib.contextmanager
def live(_):
    with glass_of_double() as (glass, _):
        yield glass.url


@contextlib.contextmanager
def in_virtual_time(folder):
    with virtual.showing(virtual.FIRST, folder) as scene, glass_of(scene) as glass:
        yield glass.url


@contextlib.contextmanager
def recorded(folder):
    double = RouterDouble()
    with (
        device_double.serving(double, double.handler) as address,
        tape.rolling() as rolling,
        routers.announced({"s2": address}, NETWORK),
    ):
        routers.look_at("s2", 2)
        wait.until(lambda: rolling.bytes_held > 200_000, "messages on the tape", 120)
    rolling.write(folder / "inside.html")
    yield (folder / "inside.html").as_uri()


WORLDS = {"live": live, "virtual time": in_virtual_time, "a recording": recorded}


def in_one(always):
    """A test in each world; in `make test` in this one only."""
    worlds = [
        each if each == always else pytest.param(each, marks=pytest.mark.nightly) for each in WORLDS
    ]
    return pytest.mark.parametrize("world", worlds, indirect=True)


@pytest.fixture(params=WORLDS)
def world(request, tmp_path, monkeypatch):
    """The name of a world in a page, and the address of such a page."""
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    with WORLDS[request.param](tmp_path) as address:
        yield request.param, address


def opened(page, world, address):
    """The page at an instant at which packets are known, and time that stands."""
    page.goto(address)
    expect(page.locator(".badge").first).to_have_text(world)
    page.wait_for_function("() => window.vitrine?.player.toldPs > 0")
    if world == "a recording":
        page.evaluate("vitrine.player.setPace(0.001)")
        page.evaluate(
            "vitrine.player.seek((vitrine.player.startPs + vitrine.model.packetsUntilPs) / 2)"
        )
    # A busy machine can reach this line while the first message is all that the page has.
    page.wait_for_function(HAS_A_PAST)
    expect(page.locator(".notice")).to_contain_text(BLOCKED)
    page.evaluate("vitrine.player.pause()")


def stepped(page, key):
    """The instants before and after a step in time; phases of one instant are passed over."""
    before_ps = at_ps = page.evaluate("vitrine.player.timePs")
    for _ in range(PHASES_MAX):
        page.keyboard.press(key)
        at_ps = page.evaluate("vitrine.player.timePs")
        if at_ps != before_ps:
            break
    return before_ps, at_ps


def test_blocking_is_seen_packets_are_chosen_and_time_is_stepped(chromium, world):
    with page_of(chromium) as page:
        opened(page, *world)
        # A packet and a queue, by keyboard.
        page.keyboard.press("n")
        expect(page.get_by_role("tab", name="Packet")).to_have_attribute("aria-selected", "true")
        expect(page.get_by_role("tabpanel", name="Packet")).to_contain_text("Its way")
        page.keyboard.press("q")
        expect(page.locator(".chart").first).to_contain_text("input")
        # Back and forth, from event to event: two back, so that there is one to go forth to.
        stepped(page, "ArrowLeft")
        before_ps, at_ps = stepped(page, "ArrowLeft")
        assert at_ps < before_ps
        before_ps, at_ps = stepped(page, "ArrowRight")
        assert at_ps > before_ps
        # The same for those who do not see it.
        page.get_by_text("The picture as a table").click()
        expect(page.get_by_role("table", name="Input queues")).to_be_visible()
        # The network around it, and back.
        page.keyboard.press("0")
        expect(page.locator(".labels")).to_contain_text("h4")
        page.get_by_role("navigation", name="Places").get_by_role("button", name="s2").click()
        expect(page.locator(".labels")).to_contain_text("output queues")
        # Light and dark, as the system has it and as the viewer says.
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            expect(page.locator("html")).to_have_attribute("data-theme", scheme)
        before = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.keyboard.press("t")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


def grave(page):
    found = Axe().run(page).response["violations"]
    return [
        (each["id"], [node["html"] for node in each["nodes"]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


@in_one("virtual time")
def test_nothing_bars_anybodys_way(chromium, world):
    name, address = world
    with page_of(chromium) as page:
        opened(page, name, address)
        assert grave(page) == [], "the router"
        page.keyboard.press("0")
        expect(page.locator(".labels")).to_contain_text("h4")
        assert grave(page) == [], "the network"
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        assert grave(page) == [], "the keys"
        page.keyboard.press("Escape")
        page.keyboard.press("p")
        assert grave(page) == [], "a projector"
    with page_of(chromium, **TABLET) as page:
        opened(page, name, address)
        assert grave(page) == [], "a tablet"


@in_one("a recording")
def test_on_a_phone_all_is_read_and_a_finger_finds_it(chromium, world):
    with page_of(chromium, color_scheme="dark", **PHONE) as page:
        opened(page, *world)
        page.evaluate("vitrine.slow()")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(MIXED_UP) == []
        sizes = page.evaluate(
            """() => [...document.querySelectorAll(".labels *")].filter((each) => each.textContent)
                 .map((each) => parseFloat(getComputedStyle(each).fontSize))"""
        )
        assert min(sizes) > 11
        # The port that the network is about is in sight.
        row, sight = page.evaluate(
            "[vitrine.routerView.layout.rows.get(vitrine.scene.about.port).y, vitrine.stage.sight]"
        )
        assert sight[0] < row < sight[1]
        # An empty queue: in others a finger finds packets.
        strip = page.evaluate("vitrine.routerView.layout.rows.get(1).queues[0]")
        page.evaluate("vitrine.stage.box.scrollTop = 0")
        page.locator(".canvas").tap(position={"x": strip["x"] + 4, "y": strip["y"] + 4})
        expect(page.locator(".chart").first).to_contain_text("port 1, class 0")
        assert grave(page) == [], "a phone"
        page.get_by_role("navigation", name="Places").get_by_role("button", name="Network").tap()
        expect(page.locator(".labels")).to_contain_text("h4")
        page.evaluate("vitrine.slow()")
        assert page.evaluate(MIXED_UP) == []
        # While one reads on, the picture stays.
        page.evaluate("document.querySelector('.charts').scrollIntoView()")
        expect(page.locator(".canvas")).to_be_in_viewport(ratio=0.9)
