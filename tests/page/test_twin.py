"""Two networks side by side: the same senders and seeds, one clock, one setting that differs."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.glass.browser import needs_browser
from tests.page.conftest import needs_module
from tests.page.test_alone import opened, runs, standing
from tests.page.test_lessons import BLOCKED_SHARE, CURED_SHARE, percent_of

pytestmark = [needs_browser, needs_module]
# Both routers' instant, packets received by their first port, and input queueing.
BOTH = """async () => {
  const asked = ["s2", "vitrine.v1.Router", "Describe", { device_id: 2 }];
  const said = await Promise.all([vitrine, vitrine.twin].map(({ calls }) => calls.call(...asked)));
  return said.map(({ time_ps, books, input }) => (
    { time_ps, input, received: books.ports[0].received }));
}"""


def numbers(page, row):
    """The cells of a row: of the first network, of the second, and the difference."""
    return (
        page.get_by_role("region", name="The numbers of both")
        .get_by_role("row", name=row)
        .locator("output")
    )


def test_the_same_packets_come_to_two_routers_and_their_numbers_stand_side_by_side(
    chromium, vitrine
):
    with standing(chromium, f"{vitrine}#open=hol-blocking&twin=VOQ") as page:
        one, other = page.evaluate(BOTH)
        assert (one["input"]["queueing"], other["input"]["queueing"]) == ("FIFO", "VOQ")
        page.evaluate("vitrine.jump(0.3e12)")
        after = page.evaluate(BOTH)
        assert [each["time_ps"] - one["time_ps"] for each in after] == [0.3e12, 0.3e12]
        # The same seed: to the byte what came before the routers differ.
        assert after[0]["received"] == after[1]["received"]
        assert after[0]["received"]["packets"] > one["received"]["packets"]
        page.evaluate("vitrine.slow()")
        blocked, cured, difference = numbers(page, "How much of its line the flow to h5 gets").all()
        assert BLOCKED_SHARE[0] < percent_of(blocked) < BLOCKED_SHARE[1]
        assert percent_of(cured) >= CURED_SHARE
        gained = round(100 * (percent_of(cured) - percent_of(blocked)))
        expect(difference).to_have_text(f"+{gained} points")
        # Both pictures show their own router.
        for name, words in (
            ("One FIFO", "input queues"),
            ("Virtual output", re.compile("VOQs|virtual output queues")),
        ):
            picture = page.get_by_role("region", name=re.compile(name))
            expect(picture.locator(".labels")).to_contain_text(words)
        # An application that a host starts is started in both.
        page.get_by_role("tab", name="Flows").click()
        page.evaluate("vitrine.world.startPing('h1', 'h5')")
        page.evaluate("vitrine.jump(0.5e12)")
        apps = """async () => Promise.all([vitrine, vitrine.twin].map(async ({ calls }) =>
          (await calls.call("@world", "vitrine.v1.World", "Look", { apps: true })).apps.length))"""
        first, second = page.evaluate(apps)
        assert first == second
        # A setting of the first router leaves the second as it is.
        page.get_by_role("tab", name="Handles").click()
        page.get_by_label("Rounds").select_option("2")
        page.wait_for_function("() => vitrine.model.samples.abouts.at(-1).input.iterations === 2")
        assert [each["input"]["iterations"] for each in page.evaluate(BOTH)] == [2, 1]


def test_compare_offers_what_differs_and_leads_back_to_one_network(chromium, vitrine):
    with opened(chromium, f"{vitrine}#open=hol-blocking", desk=False) as page:
        runs(page)
        compare = page.get_by_role("banner").first.get_by_role("button", name="Compare")
        compare.click()
        dialog = page.get_by_role("dialog", name="Compare")
        # The router has FIFOs: they are no difference.
        expect(dialog.get_by_role("button", name="One FIFO")).to_have_count(0)
        dialog.get_by_role("button", name="an ideal output-queued router").click()
        expect(page.get_by_role("region", name="The numbers of both")).to_contain_text("difference")
        assert page.evaluate("location.hash") == "#open=hol-blocking&twin=NONE"
        compare.click()
        dialog.get_by_role("button", name="One network again").click()
        expect(page.get_by_role("region", name="The numbers of both")).to_have_count(0)
        expect(page.locator(".chart").first).to_be_visible()
        page.go_back()
        expect(page.get_by_role("region", name="The numbers of both")).to_contain_text("difference")


def test_a_setting_that_makes_no_difference_is_refused(chromium, vitrine):
    with opened(chromium, f"{vitrine}#open=hol-blocking&twin=FIFO", desk=False) as page:
        expect(page.locator(".sheet")).to_contain_text('s2 cannot be compared with "FIFO"')


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_both(chromium, vitrine, scheme):
    with opened(
        chromium, f"{vitrine}#open=hol-blocking&twin=VOQ", desk=False, color_scheme=scheme
    ) as page:
        runs(page)
        expect(page.get_by_role("region", name="The numbers of both")).to_contain_text("difference")
        found = Axe().run(page).response["violations"]
        grave = [each for each in found if each["impact"] in ("serious", "critical")]
        assert [(each["id"], [n["html"] for n in each["nodes"]]) for each in grave] == []
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_network_that_was_left_is_forgotten(chromium, vitrine):
    with opened(chromium, f"{vitrine}#open=hol-blocking&twin=VOQ", desk=False) as page:
        runs(page)
        expect(page.get_by_role("region", name="The numbers of both")).to_contain_text("difference")
        page.evaluate("window.left = [new WeakRef(vitrine)]")
        for address in ("#open=hol-blocking", "#open=bufferbloat"):
            page.evaluate("(address) => (location.hash = address)", address)
            page.wait_for_function(
                "() => window.vitrine?.isSettled && vitrine !== left.at(-1).deref()"
            )
            page.evaluate("left.push(new WeakRef(vitrine))")
        session = page.context.new_cdp_session(page)
        # A collection ends elements, which hold what was drawn in them: the next one takes that.
        held = [True]
        for _ in range(10):
            session.send("HeapProfiler.collectGarbage")
            page.evaluate("new Promise(requestAnimationFrame)")
            held = page.evaluate("left.map((each) => each.deref() !== undefined)")
            if not any(held[:-1]):
                break
        assert held == [False, False, True]
