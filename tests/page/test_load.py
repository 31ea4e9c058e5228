"""The load slider of the first lesson: a point for each load, beside the theory."""

from playwright.sync_api import expect

from tests.glass.browser import needs_browser
from tests.page.conftest import needs_module
from tests.page.test_alone import standing

pytestmark = [needs_browser, needs_module]
PANEL = "vitrine.side.lesson.panels[0]"
DONE = f"""(loads) => !{PANEL}.running && {PANEL}.found.size === loads"""
SLIDE = "(slider, at) => { slider.value = at; slider.dispatchEvent(new Event('input')); }"


def test_the_load_draws_the_curve(chromium, vitrine):
    with standing(chromium, f"{vitrine}#open=hol-blocking") as page:
        lesson = page.get_by_role("tabpanel", name="Lesson")
        slider = lesson.get_by_label("Load", exact=True)
        slider.evaluate(SLIDE, 50)
        expect(lesson).to_contain_text("At 50 % load: ")
        page.wait_for_function(DONE, arg=1)
        found = page.evaluate(f"{PANEL}.found.get(50)")
        # 23/12 slots with infinitely many ports, and (1 - 1/64) / 2 with output queues.
        assert 1.6 < found["wait"] < 2.0
        assert 0.45 < found["outputWait"] < 0.53
        # By keyboard, too: its arrows are its own, and time stands.
        now = page.evaluate("vitrine.player.timePs")
        slider.focus()
        page.keyboard.press("ArrowRight")
        expect(slider).to_have_value("55")
        page.wait_for_function(DONE, arg=2)
        assert page.evaluate("vitrine.player.timePs") == now
        # Beyond 58.6 % the rest piles up.
        slider.evaluate(SLIDE, 80)
        expect(lesson).to_contain_text("no end: they carry 5")
        page.wait_for_function(DONE, arg=3)
        assert 0.57 < page.evaluate(f"{PANEL}.found.get(80).carried") < 0.60
        lesson.get_by_role("button", name="Draw the curve").click()
        page.wait_for_function(DONE, arg=19)
        waits = page.evaluate(
            f"[...{PANEL}.found].sort(([a], [b]) => a - b).map(([, f]) => f.wait)"
        )
        assert waits == sorted(waits)
        # Another crossbar is another curve.
        lesson.get_by_label("Crossbar").select_option("4 ports")
        assert page.evaluate(f"{PANEL}.found.size") == 0
