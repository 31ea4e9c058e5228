"""The page of an exercise as a student uses it: from a disk, in Chromium, without a network."""

import zipfile

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from course import catalogue
from course.exercise import SOLUTIONS
from course.grading.grade import grade
from course.grading.intake import submissions
from course.page import handout
from course.process import Runner
from tests.course.test_page import needs_page
from tests.glass.browser import needs_browser, page_of

pytestmark = [needs_browser, needs_page]
# Python starts within seconds, and all cases take a minute; a busy machine needs several.
READY_MS, CHECKED_MS = 300_000, 900_000
NAME = "first-router"
WRONG = SOLUTIONS / NAME / "wrong" / "ttl-stays" / "router.p4"
RIGHT = SOLUTIONS / NAME / "right" / "router.p4"


@pytest.fixture(scope="session")
def exercise_page(tmp_path_factory):
    """The address of the page on the disk."""
    folder = tmp_path_factory.mktemp("exercise")
    handout.write(catalogue.find(NAME), folder)
    assert sorted(file.name for file in folder.iterdir()) == ["index.html", "python.js"]
    return (folder / "index.html").as_uri()


def said(page):
    return page.get_by_role("status")


def hand_over(page, file):
    page.get_by_label("Your work as a file").set_input_files(str(file))
    expect(said(page)).to_have_text(f"Opened {file.name}.")


def test_a_student_goes_from_the_handout_to_the_hand_in(chromium, exercise_page, tmp_path):
    with page_of(chromium, offline=True, accept_downloads=True) as page:
        page.goto(exercise_page)
        expect(page.get_by_role("region", name="Handout")).to_contain_text("longest wins")
        expect(said(page)).to_have_text("Python is ready.", timeout=READY_MS)
        assert not Axe().run(page).response["violations"]

        page.get_by_role("button", name="Check all").click()
        expect(said(page)).to_contain_text("Write your name first")
        page.get_by_label("Your name").fill("Ada Lovelace")

        hand_over(page, WRONG)
        page.get_by_role("button", name="Check ttl-less-one").click()
        row = page.get_by_role("listitem").filter(has_text="ttl-less-one")
        expect(row).to_contain_text("It left with TTL 64.", timeout=CHECKED_MS)
        row.get_by_role("button", name="Run its last line").click()
        expect(page.locator(".printed")).to_contain_text("port 9", timeout=CHECKED_MS)

        hand_over(page, RIGHT)
        page.get_by_role("button", name="Check all").click()
        points = "first-router: 100 of 100 points, 13 of 13 cases."
        expect(said(page)).to_have_text(points, timeout=CHECKED_MS)

        # The work survives a reload, and the file is what grading takes.
        page.reload()
        assert page.get_by_label("Your name").input_value() == "Ada Lovelace"
        with page.expect_download() as download:
            page.get_by_role("button", name="Download my hand-in").click()
        folder = tmp_path / "submissions"
        folder.mkdir()
        download.value.save_as(folder / "first-router.zip")

    # On another computer the file restores name and program.
    with page_of(chromium, offline=True) as page:
        page.goto(exercise_page)
        hand_over(page, folder / "first-router.zip")
        assert page.get_by_label("Your name").input_value() == "Ada Lovelace"
        program = page.evaluate("() => JSON.parse(localStorage['vitrine.exercise.first-router'])")
        assert program["files"]["router.p4"] == RIGHT.read_text()
    with zipfile.ZipFile(folder / "first-router.zip") as archive:
        assert archive.read("first-router/router.p4") == RIGHT.read_bytes()
    (graded,) = grade(catalogue.find(NAME), submissions(folder), secret="maple", runner=Runner())
    assert graded.judgement.points == 100
