"""Reports and students' pages on paper: nothing is cut, no figure is torn, and paper is white."""

import contextlib

from course import catalogue
from course.grading import pages
from course.grading.grade import Graded
from course.judge import Judgement, Verdict
from course.story import Story
from labs.definition import Figure
from labs.report import html
from tests.glass.browser import needs_browser, page_of

# A4 without its margins, in the pixels of CSS: 96 to the inch.
SHEET = {"width": round(180 / 25.4 * 96), "height": round(267 / 25.4 * 96)}
NUMBERS = ["goodput_share", "loss_share", "queue_packets", "queue_packets_p95", "goodput_bps"]
HEAD = ["packets", "utilisation", *NUMBERS, *(f"{name}_per_flow" for name in NUMBERS)]
# Higher than a sheet at the width of one.
TALL = b'<svg xmlns="http://www.w3.org/2000/svg" width="400" height="900"></svg>'


def report():
    """With a wide table, a high figure and a long line."""
    parts = [
        "<h2>Every point</h2>",
        html.table_of([HEAD, *[["40", *["0.009121 ± 0.00076"] * (len(HEAD) - 1)]] * 3]),
        html.picture(Figure("tall", "A caption of a line or two. " * 8, None), TALL),
        f"<pre>flows: {{all: {'connections, ' * 20}}}</pre>",
    ]
    return html.document("A report", parts)


def students_page():
    """With a packet's way that is wider than a sheet, a word that is, and what waited."""
    story = Story(
        done=f"The packet {'0200000000fe' * 12} came in at port 9.",
        expected="Nothing comes out.",
        because="RFC 1812, section 5.3.1.",
        came="It left by port 4 with TTL 0.",
        way=("parser state start", "action ingress.forward(port = 0x04, " + "addr, " * 20 + ")"),
        link="file:///out/network.html#at=0.135",
        picture='<svg viewBox="0 0 760 190" xmlns="http://www.w3.org/2000/svg"></svg>',
    )
    exercise = catalogue.find("first-router")
    first, *others = exercise.cases
    verdicts = [Verdict(first, story), *(Verdict(case, None) for case in others)]
    return pages.page(Graded("ada", "Ada", Judgement(exercise, "Ada", tuple(verdicts)), ()))


@contextlib.contextmanager
def printed(chromium, text, tmp_path):
    """A page on a printer, of a reader with a dark theme."""
    file = tmp_path / "page.html"
    file.write_text(text)
    with page_of(chromium, viewport=SHEET, color_scheme="dark") as page:
        page.emulate_media(media="print")
        page.goto(file.as_uri())
        yield page


def check_fits(page):
    """Nothing is wider than a sheet, or has more in it than is seen, and no figure is higher."""
    wide = page.evaluate(
        """() => [...document.querySelectorAll("body *")]
             .map((each) => [each.outerHTML.slice(0, 60), each.getBoundingClientRect().right])
             .filter(([, right]) => right > innerWidth + 1)"""
    )
    assert wide == []
    cut = page.evaluate(
        """() => [...document.querySelectorAll("pre, dd, td")]
             .filter((each) => getComputedStyle(each).overflowX !== "visible")
             .filter((each) => each.scrollWidth > each.clientWidth)
             .map((each) => each.outerHTML.slice(0, 60))"""
    )
    assert cut == []
    heights = page.evaluate(
        """() => [...document.querySelectorAll("figure")].map((each) =>
             [getComputedStyle(each).breakInside, each.getBoundingClientRect().height])"""
    )
    ((inside, height),) = heights
    assert inside == "avoid"
    assert height < SHEET["height"]


def check_is_white(page, ink):
    """Whatever colours its reader likes on a screen."""
    colours = "getComputedStyle(document.body)"
    assert page.evaluate(f"{colours}.backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(f"{colours}.color") == ink


@needs_browser
def test_a_report_is_white_and_fits_and_what_only_a_screen_can_do_is_left_out(chromium, tmp_path):
    with printed(chromium, report(), tmp_path) as page:
        check_fits(page)
        check_is_white(page, "rgb(34, 34, 34)")
        assert not page.get_by_text("larger or smaller").is_visible()


@needs_browser
def test_a_students_page_is_white_and_fits_and_a_link_is_left_to_screens(chromium, tmp_path):
    with printed(chromium, students_page(), tmp_path) as page:
        check_fits(page)
        check_is_white(page, "rgb(28, 28, 28)")
        assert not page.get_by_text("See this moment in the glass.").is_visible()
