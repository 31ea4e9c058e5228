"""Lessons of labs that the one file has the networks of: each step does what its button says."""

import pytest
from playwright.sync_api import expect

from tests.glass.browser import needs_browser
from tests.page.conftest import needs_module
from tests.page.test_alone import opened, runs

pytestmark = [needs_browser, needs_module]
# What the router has been asked for by each lesson, step by step.
ASKED = {
    "crossbar-arbiters": ["OCF", "LQF", "ISLIP"],
    "schedulers": ["DRR", "WFQ", "strict"],
    "shared-buffer": [[1, 0], [8, 0], [None, 50_000]],
}
IN_FORCE = {
    "crossbar-arbiters": "about.input.arbiter",
    "schedulers": """(({ groups }) => groups.length > 1 ? "strict" : groups[0].discipline)(
        about.ports[3].config.scheduler)""",
    "shared-buffer": """(({ share, limit }) =>
        [share?.alpha?.over ?? null, limit.bytes === 50000 ? limit.bytes : 0])(
        about.ports[7].config.queues[0])""",
}


@pytest.mark.parametrize(
    "lesson",
    [
        each if each == "schedulers" else pytest.param(each, marks=pytest.mark.nightly)
        for each in ASKED
    ],
)
def test_each_button_of_a_lesson_is_done_by_the_router(chromium, vitrine, lesson):
    with opened(chromium, f"{vitrine}#open={lesson}") as page:
        runs(page)
        page.get_by_role("banner").first.get_by_role("button", name="Program").click()
        panel = page.get_by_role("tabpanel", name="Lesson")
        steps = panel.locator("li")
        asked = []
        for number in range(steps.count()):
            step = steps.nth(number)
            expect(step).to_have_attribute("aria-current", "step")
            if step.locator("textarea").count():
                step.locator("textarea").fill(f"answer {number}")
            button = step.locator("button.main")
            if button.count():
                button.click()
                # The next step is due when the router has answered.
                expect(steps.nth(number + 1)).to_have_attribute("aria-current", "step")
                asked.append(
                    page.evaluate(f"(({{ about }}) => {IN_FORCE[lesson]})(vitrine.side.handles)")
                )
            elif number < steps.count() - 1:
                step.get_by_role("button", name="Next").click()
            expect(panel.get_by_role("alert")).to_have_count(0)
        # The first button lets time pass at another pace, and leaves the router as it is.
        assert asked[1:] == ASKED[lesson]
