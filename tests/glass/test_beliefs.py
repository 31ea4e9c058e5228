"""A recording of the scoreboard shows, beside the true queue, what each system believes."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from labs.score import replay
from labs.score.line import Line
from labs.score.run import Bench
from labs.score.systems import named
from labs.score.workloads import WORKLOADS
from tests.glass.browser import needs_browser, page_of

pytestmark = needs_browser
SYSTEMS = ["postcards", "conquest", "hashpipe", "polling-1ms"]
PS = 10**12


@pytest.fixture(scope="module")
def replayed(tmp_path_factory):
    """A page, and its runs by system."""
    folder = tmp_path_factory.mktemp("replay")
    file = folder / "replay.html"
    with Bench(folder / "world.log") as bench:
        runs = replay.write(bench, list(map(named, SYSTEMS)), WORKLOADS["adversary"], file)
    return file, runs


def _known_ps(run, buildup):
    """When the controller first knew of a build-up; None: never."""
    overlapping = [
        claim.detected_ps
        for claim in run.claims
        if claim.begin_ps <= buildup.end_ps and buildup.begin_ps <= claim.end_ps
    ]
    return min(overlapping, default=None)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_track_says_who_knows_at_each_instant(chromium, replayed, theme):
    file, runs = replayed
    with page_of(chromium, offline=True, color_scheme=theme) as page:
        page.goto(file.as_uri())
        track = page.locator(".chart.beliefs")
        expect(track.get_by_role("img")).to_be_visible()
        for buildup in runs["postcards"].buildups[:4]:
            at_ps = (buildup.crossed_ps + buildup.end_ps) // 2
            page.evaluate(f"vitrine.player.pause(); vitrine.player.seek({at_ps})")
            known = {name: _known_ps(run, buildup) for name, run in runs.items()}
            aware = [name for name, ps in known.items() if ps is not None and ps <= at_ps]
            unaware = [name for name in SYSTEMS if name not in aware]
            # Polling never knows of the adversary's build-ups, and postcards do at once.
            assert "postcards" in aware and "polling-1ms" in unaware
            words = track.get_by_role("status")
            expect(words).to_contain_text("a build-up: ")
            expect(words).to_contain_text(f"{' and '.join(aware)} know")
            expect(words).to_contain_text(unaware[-1])
        # An open table follows: once all is over, it has each claim and each miss.
        track.get_by_text("As a table").click()
        page.evaluate(f"vitrine.player.seek({0.05 * PS})")
        rows = track.get_by_role("row")
        claims = sum(len(run.claims) for run in runs.values())
        missed = sum(run.score.buildups.missed for run in runs.values())
        expect(rows).to_have_count(1 + claims + missed)
        expect(track.get_by_role("row", name="polling-1ms missed it, so far")).to_have_count(
            len(runs["polling-1ms"].buildups)
        )
        expect(rows.nth(1)).to_contain_text("→ r1:")
        found = Axe().run(page).response["violations"]
        assert [each for each in found if each["impact"] in ("serious", "critical")] == []


def test_the_lesson_leads_to_what_was_known_and_what_was_missed(chromium, replayed):
    file, runs = replayed
    with page_of(chromium, offline=True) as page:
        page.goto(file.as_uri())
        lesson = page.get_by_role("tabpanel", name="Lesson")
        words = page.locator(".chart.beliefs").get_by_role("status")
        lesson.get_by_role("button", name="Go to the first build-up").click()
        expect(words).to_contain_text("a build-up: postcards")
        first = runs["postcards"].buildups[0]
        assert first.crossed_ps < page.evaluate("vitrine.player.timePs") < first.end_ps
        lesson.get_by_role("button", name="Show one that was missed").click()
        expect(lesson.get_by_role("alert")).to_have_count(0)
        expect(words).to_contain_text("build-ups so far: ")
        # The picture is the router's, with the track below it, in the light colours of paper.
        lesson.get_by_role("button", name="Take the picture").first.click()
        taken = lesson.get_by_role("img", name="The picture for Why it was missed")
        expect(taken).to_have_count(1)
        canvases = "vitrine.stage.canvas.height, vitrine.charts.beliefs.canvas.height"
        page.wait_for_function("document.querySelector('.lesson img').naturalHeight > 0")
        whole, router, track = taken.evaluate(f"(taken) => [taken.naturalHeight, {canvases}]")
        assert whole == router + track and track > 100
        # A recording has nothing to change, but its lesson can be handed in.
        expect(page.get_by_role("tab", name="Handles")).to_have_count(0)
        lesson.get_by_label("Your name").fill("Ada")
        with page.expect_download() as download:
            lesson.get_by_role("button", name="Save the file").click()
        assert "who-sees-the-queue" in download.value.suggested_filename


@pytest.mark.parametrize("faster", [10, 40])
def test_a_run_on_a_faster_line_is_replayed_from_its_beginning(chromium, tmp_path, faster):
    """It may be shorter than a millisecond, and begin within one."""
    file = tmp_path / "fast.html"
    with Bench(tmp_path / "world.log") as bench:
        runs = replay.write(
            bench, [named("postcards")], WORKLOADS["microburst"], file, line=Line(faster)
        )
    with page_of(chromium, offline=True) as page:
        page.goto(file.as_uri())
        page.get_by_role("button", name="Go to the first build-up").click()
        words = page.locator(".chart.beliefs").get_by_role("status")
        expect(words).to_contain_text("a build-up: postcards knows")
        first = runs["postcards"].buildups[0]
        assert first.crossed_ps < page.evaluate("vitrine.player.timePs") < first.end_ps
        # The packets are there, and not only depths.
        expect(page.locator(".notice")).not_to_contain_text("no single packets")
