"""Keys move time wherever the focus is, but for a field that the reader went to."""

from playwright.sync_api import expect

from tests.glass.browser import needs_browser
from tests.page.conftest import needs_module
from tests.page.test_alone import opened, runs

pytestmark = [needs_browser, needs_module]
PRESSES = 20


def time_ps(page):
    return page.evaluate("vitrine.player.timePs")


def is_playing(page):
    return page.evaluate("vitrine.player.isPlaying")


def test_keys_that_a_lesson_asks_for_work_at_once(chromium, vitrine):
    with opened(chromium, f"{vitrine}#open=hol-blocking", desk=False) as page:
        runs(page)
        steps = page.get_by_role("tabpanel", name="Lesson").locator("li")
        steps.nth(0).locator("button.main").click()
        expect(steps.nth(1)).to_have_attribute("aria-current", "step")
        # The lesson says: step with the arrow keys.
        page.keyboard.press("Space")
        assert not is_playing(page)
        before = time_ps(page)
        page.keyboard.press("ArrowRight")
        page.wait_for_function("(before) => vitrine.player.timePs > before", arg=before)
        assert steps.nth(1).locator("textarea").input_value() == ""
        # A button that was clicked has had its click.
        page.get_by_role("button", name="Faster (+)").click()
        pace = page.evaluate("vitrine.player.pace")
        page.keyboard.press("Space")
        assert is_playing(page)
        assert page.evaluate("vitrine.player.pace") == pace
        # One that was reached by keyboard is pressed by it.
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.wait_for_function("(pace) => vitrine.player.pace > pace", arg=pace)
        # The slider of time was clicked: arrows step, as everywhere.
        page.keyboard.press("-")
        page.get_by_role("slider", name="Instant").click()
        page.keyboard.press("Space")
        assert is_playing(page)
        page.keyboard.press("Space")
        # In a field keys are text.
        answer = steps.nth(1).locator("textarea")
        answer.click()
        before = time_ps(page)
        page.keyboard.type("a + b")
        page.keyboard.press("ArrowLeft")
        assert answer.input_value() == "a + b"
        assert time_ps(page) == before
        assert not is_playing(page)


def test_each_step_at_the_newest_instant_leads_to_what_happens_next(chromium, vitrine):
    with opened(chromium, f"{vitrine}#open=hol-blocking", desk=False) as page:
        runs(page)
        page.evaluate("vitrine.player.pause(); vitrine.player.seek(Infinity)")
        page.evaluate("document.activeElement.blur()")
        # The phases of an arbitration take presses and no time; they are left out here.
        page.evaluate("vitrine.timeBar.phases = () => undefined")
        reached = [time_ps(page)]
        for _ in range(PRESSES):
            page.keyboard.press("ArrowRight")
            page.wait_for_function("(last) => vitrine.player.timePs > last", arg=reached[-1])
            assert not is_playing(page)
            reached.append(time_ps(page))
            # Something happens at each of them, and nothing was left out between two.
            steps = page.evaluate(
                "([from, to]) => vitrine.model.insides.between(from, to).map((one) => one.timePs)",
                reached[-2:],
            )
            assert set(steps) == {reached[-1]}
        # Presses that come faster than the network tells are kept.
        page.evaluate("vitrine.player.seek(Infinity)")
        before = time_ps(page)
        for _ in range(PRESSES):
            page.keyboard.press("ArrowRight")
        page.wait_for_function("() => !vitrine.timeBar.stepsDue")
        instants = page.evaluate(
            "([from, to]) => new Set(vitrine.model.insides.between(from, to)"
            ".map((each) => each.timePs)).size",
            [before, time_ps(page)],
        )
        assert instants == PRESSES
