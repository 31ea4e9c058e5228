"""Lessons of labs that the one file has the networks of: each step does what its button says."""

import math
import re

import pytest
from playwright.sync_api import expect

from tests.glass.browser import needs_browser
from tests.page.conftest import needs_module
from tests.page.test_alone import opened, runs, standing

pytestmark = [needs_browser, needs_module]
# The requests of each lesson to the router, step by step.
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
    with opened(chromium, f"{vitrine}#open={lesson}", desk=False) as page:
        runs(page)
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


# The lesson's first two shares of the line: less than it could carry, and all of it.
BLOCKED_SHARE, CURED_SHARE = (0.15, 0.40), 0.95
MEASURED = """async () => {
  const asked = ["s2", "vitrine.v1.Router", "Describe", { device_id: 2 }];
  const { ports } = await vitrine.calls.call(...asked);
  return ports.map(({ port, counters }) => [port, counters.counters.departed.bytes]);
}"""


def test_blocking_costs_what_the_lesson_says_where_it_says_so(chromium, vitrine):
    with opened(chromium, f"{vitrine}#open=hol-blocking", desk=False) as page:
        page.set_viewport_size({"width": 1280, "height": 800})
        runs(page)
        panel = page.get_by_role("tabpanel", name="Lesson")
        claim = panel.get_by_role("region", name="How much of its line the flow to h5 gets")
        # The lesson is what one sees first; the program is one click away.
        expect(claim).to_be_in_viewport()
        program = page.get_by_role("banner").first.get_by_role("button", name="Program")
        program.click()
        expect(page.locator(".cm-content")).to_be_in_viewport()
        program.click()
        share = {
            name: claim.locator("div").filter(has_text=name).locator("output")
            for name in ("One FIFO at input 1", "Virtual output queues", "speedup 2")
        }
        # At the moment at which the first step is read, and not on average over a minute.
        expect(share["One FIFO at input 1"]).to_have_text(re.compile(r"^\d+ %$"))
        blocked = percent_of(share["One FIFO at input 1"])
        assert BLOCKED_SHARE[0] < blocked < BLOCKED_SHARE[1]
        expect(share["Virtual output queues"]).to_have_text("…")
        assert_as_measured(page, blocked)
        # "Its output queue is full": that to h4.
        assert (
            page.evaluate(
                "vitrine.model.samples.at(vitrine.player.timePs).ports[1].counters.held.packets"
            )
            >= 19
        )
        steps = panel.locator("li")
        depth = page.locator(".chart").filter(has_text="Depth of a queue")
        for button in ("Slow down to see it", "Switch to VOQ"):
            expect(depth).to_contain_text("input 1")
            steps.get_by_role("button", name=button).click()
        expect(share["Virtual output queues"]).to_have_text(re.compile(r"^\d+ %$"))
        cured = percent_of(share["Virtual output queues"])
        assert cured >= CURED_SHARE
        assert_as_measured(page, cured)
        # The curve is still that of the input, which has other queues now.
        expect(depth).to_contain_text("input 1")
        # Both numbers are beside each other, and the FIFO's is unchanged.
        assert percent_of(share["One FIFO at input 1"]) == pytest.approx(blocked, abs=0.05)
        steps.get_by_role("button", name="FIFO, speedup 2").click()
        expect(share["speedup 2"]).to_have_text(re.compile(r"^\d+ %$"))
        assert percent_of(share["speedup 2"]) < BLOCKED_SHARE[1]
        # On a phone the victim's row is in sight, also between the bars of a browser.
        for height in (844, 664):
            page.set_viewport_size({"width": 390, "height": height})
            page.wait_for_function(VICTIM_IN_SIGHT)
            page.wait_for_function(TIMES_ARE_APART)


VICTIM_IN_SIGHT = """() => {
  const { layout } = vitrine.routerView, { box, sight } = vitrine.stage;
  const { bottom } = box.getBoundingClientRect(), row = layout.rows.get(3);
  const [from, to] = sight;
  return layout.isNarrow && from < row.top && row.y + 20 < to && bottom < innerHeight;
}"""


# The longest text about what is remembered, beside the instant and the pace.
TIMES_ARE_APART = """() => {
  const pace = document.querySelector(".time div > .pace");
  const reach = document.querySelector(".time > .pace");
  return /single packets/.test(reach.textContent)
    && pace.getBoundingClientRect().right <= reach.getBoundingClientRect().left;
}"""


def percent_of(output):
    return float(output.text_content().removesuffix(" %")) / 100


def assert_as_measured(page, share):
    """The router's own counters over the next fifth of a second say so, too."""
    page.evaluate("vitrine.player.pause()")
    before = dict(page.evaluate(MEASURED))
    began_ps, ended_ps = page.evaluate(
        """async () => {
          const began = vitrine.world.reachedPs || vitrine.player.toldPs;
          await vitrine.world.pass(200e9);
          return [began, vitrine.world.reachedPs];
        }"""
    )
    sent = dict(page.evaluate(MEASURED))[3] - before[3]
    assert 8 * sent / ((ended_ps - began_ps) / 1e12) / 50e6 == pytest.approx(share, abs=0.08)
    page.evaluate("vitrine.player.play()")


# At each of many instants: what the page says of blocking, and how many packets are blocked there.
SAID = """async () => {
  const { player } = vitrine, said = [];
  player.pause();
  const from = player.timePs - 50e9;
  for (let each = 0; each < 100; each++) {
    player.seek(from + each * 0.5e9);
    vitrine.view.draw(vitrine.shownPs);
    vitrine.slow();
    said.push([vitrine.notice.textContent, vitrine.routerView.now.blocked.length]);
  }
  return said;
}"""


def test_words_on_blocking_stay_and_never_contradict_the_picture(chromium, vitrine):
    with opened(chromium, f"{vitrine}#open=hol-blocking", desk=False) as page:
        runs(page)
        page.wait_for_function("() => vitrine.notice.textContent.includes('Head-of-line blocking')")
        said = page.evaluate(SAID)
    first = next(number for number, (_, blocked) in enumerate(said) if blocked)
    # From the first instant at which something is blocked, whatever comes and goes in between.
    assert all("Head-of-line blocking at input 1" in words for words, _ in said[first:])
    assert (
        len({re.search(r"seen since [0-9.]+ s", words).group() for words, _ in said[first:]}) == 1
    )
    for words, blocked in said[first:]:
        assert ("which is idle" in words) == (blocked > 0), words
    # Both cases were there.
    assert {blocked > 0 for _, blocked in said[first:]} == {True, False}


# The number behind each lesson's sentence: the button pressed, the seconds of the network until its
# effect is there, the row beside the lesson, and its least and greatest number: seconds, or shares.
LESSONS = {
    "schedulers": [
        (None, 0, "A packet each", 0.02, 0.08),
        ("Deficit round robin", 0.7, "Bytes each", 0.45, 0.55),
        ("Weighted fair queueing", 0.7, "Who would finish first", 0.45, 0.55),
        ("Strict priority", 0.7, "Strict priority", 0.9, 1.0),
    ],
    # The empty line: 20 ms and two frames; then up to 100 packets of 8.07 ms, up to 20, and two.
    "bufferbloat": [
        ("Start a ping", 1, "On the empty line", 0.020, 0.023),
        ("Start the download", 3, "room for 100", 0.4, 0.85),
        ("Limit the queue to 20 packets", 2, "room for 20", 0.08, 0.19),
        ("Two classes in turn", 2, "queue of its own", 0.020, 0.040),
    ],
    "link-sharing": [
        (None, 0, "One queue", 0.3, 0.68),
        ("Two classes, 3:7", 1, "Two classes", 0.69, 0.71),
        ("Cut h2's cable", 1, "h2 cut off", 0.99, 1),
        ("Mend the cable", 2, "Two classes", 0.69, 0.71),
        ("Strict priority", 1, "Strict priority", 0.95, 1),
    ],
    # 200 packets of 1.2 ms; targets of 5 and 15 ms, 20 to 60 packets, 20 packets.
    "queue-management": [
        (None, 0, "Until it is full", 0.12, 0.25),
        ("Manage it with CoDel", 3, "CoDel", 0.002, 0.015),
        ("Manage it with PIE", 3, "PIE", 0.005, 0.060),
        ("Manage it with RED", 3, "RED", 0.010, 0.075),
        ("Mark from 20 packets", 2, "Marks", 0.010, 0.030),
    ],
    "shared-buffer": [
        (None, 0, "Whoever comes", 0.85, 1),
        ("Thresholds, alpha = 1", 0.7, "alpha = 1", 0.2, 0.45),
        ("Thresholds, alpha = 8", 0.7, "alpha = 8", 0.6, 0.8),
        # 60 packets of 1,514 bytes for 50 kB, and the one on the line.
        ("50 kB for each", 0.7, "50 kB", 0.38, 0.46),
    ],
    "crossbar-arbiters": [
        (None, 0, "A turn each", 0.004, 0.007),
        ("Oldest cell first", 1, "Oldest cell first", 0.030, 0.085),
        ("Longest queue first", 1, "Longest queue first", math.inf, math.inf),
        ("Back to iSLIP", 1, "A turn each", 0.004, 0.007),
    ],
}
NUMBER = re.compile(r"([0-9.]+) (%|s|ms|µs)$")
UNITS = {"%": 0.01, "s": 1, "ms": 1e-3, "µs": 1e-6}
# So much time passes in the network, and the page shows where it then is.
PASS = """async (seconds) => {
  if (seconds) await vitrine.jump(seconds * 1e12);
  // Hosts report it after the routers.
  while (vitrine.hosts.toldPs < vitrine.world.reachedPs) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  vitrine.slow();
}"""


def numbers_of(page, lesson):
    """The page's figure for each row of a lesson, once its button has had its effect."""
    panel = page.get_by_role("tabpanel", name="Lesson")
    for button, seconds, row, *_ in LESSONS[lesson]:
        if button:
            at = panel.locator("li", has=page.get_by_role("button", name=button))
            at.get_by_role("button", name=button).click()
            # The next step is due when the router has answered.
            expect(at).to_have_class("past")
        page.evaluate(PASS, seconds)
        found = panel.locator(".claim div").filter(has_text=row)
        expect(found).to_have_attribute("data-now", "")
        expect(found.locator("output")).not_to_have_text("…")
        yield found.locator("output").text_content()


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_sentence_of_a_lesson_is_measured_where_it_is_read(chromium, vitrine, lesson):
    with standing(chromium, f"{vitrine}#open={lesson}") as page:
        for said, (*_, row, least, most) in zip(
            numbers_of(page, lesson), LESSONS[lesson], strict=True
        ):
            assert least <= number(said) <= most, f"{lesson}, {row}: {said}"


# TCP through queue management: whatever the machine decided would change each number.
def test_a_lesson_that_is_done_twice_has_the_same_numbers(chromium, vitrine):
    told = []
    for _ in range(2):
        with standing(chromium, f"{vitrine}#open=queue-management") as page:
            state = "[vitrine.world.reachedPs, vitrine.hosts.samples.at(-1).hosts]"
            told.append([*numbers_of(page, "queue-management"), page.evaluate(state)])
    assert told[0] == told[1]


def number(said):
    if said == "no answer":
        return math.inf
    digits, unit = NUMBER.match(said).groups()
    return float(digits) * UNITS[unit]


def test_what_is_handed_in_is_one_file_with_name_numbers_answers_and_pictures(chromium, vitrine):
    with standing(chromium, f"{vitrine}#open=hol-blocking") as page:
        panel = page.get_by_role("tabpanel", name="Lesson")
        steps = panel.locator("li")
        steps.get_by_role("button", name="Slow down to see it").click()
        steps.nth(1).locator("textarea").fill("For room in the <queue> to h4.")
        steps.nth(1).get_by_role("button", name="Take the picture").click()
        expect(steps.nth(1).locator("img")).to_be_visible()
        steps.get_by_role("button", name="Switch to VOQ").click()
        claim = panel.get_by_role("region", name="How much of its line the flow to h5 gets")
        expect(claim.locator("[data-now] output")).to_have_text("100 %")
        save = panel.get_by_role("button", name="Save the file")
        save.click()
        expect(panel.get_by_role("alert")).to_contain_text("Write your name")
        panel.get_by_label("Your name").fill("Žofie O'Neill")
        expect(panel.get_by_role("alert")).to_have_count(0)
        with page.expect_download() as download:
            save.click()
        assert download.value.suggested_filename == "hol-blocking-zofie-o-neill.html"
        text = download.value.path().read_text()
        blocked = claim.locator("div", has_text="One FIFO at input 1").locator("output")
        said = blocked.text_content()
        # It stands alone: nothing in it comes from elsewhere.
        handed_in = page.context.new_page()
        handed_in.set_content(text)
        expect(handed_in.locator("body")).to_contain_text("Žofie O'Neill")
        expect(handed_in.get_by_role("row", name="One FIFO at input 1")).to_contain_text(said)
        expect(handed_in.get_by_role("row", name="Virtual output queues")).to_contain_text("100 %")
        expect(handed_in.locator("body")).to_contain_text("For room in the <queue> to h4.")
        assert handed_in.evaluate("document.querySelector('img').naturalWidth") > 300
        expect(handed_in.get_by_role("heading", name="Virtual output queues")).to_contain_text("s2")
        assert "://" not in text
        handed_in.close()

        # The network begins again, the first step is due, and answers are still there.
        panel.get_by_role("button", name="Begin this lesson again").click()
        page.wait_for_function(
            "() => window.vitrine?.model.samples.abouts.at(-1)?.input.queueing === 'FIFO'"
        )
        expect(steps.first).to_have_attribute("aria-current", "step")
        expect(steps.nth(1).locator("textarea")).to_have_value("For room in the <queue> to h4.")
        expect(panel.get_by_label("Your name")).to_have_value("Žofie O'Neill")
        expect(
            claim.locator("div", has_text="Virtual output queues").locator("output")
        ).to_have_text("…")
