"""Reports on paper: nothing is cut, no figure lies on two sheets, and paper is white."""

import pytest

from labs.definition import Figure
from labs.report import html
from tests.glass.browser import browser, needs_browser, page_of

# A4 without its margins, in the pixels of CSS: 96 to the inch.
SHEET = {"width": round(180 / 25.4 * 96), "height": round(267 / 25.4 * 96)}
NUMBERS = ["goodput_share", "loss_share", "queue_packets", "queue_packets_p95", "goodput_bps"]
HEAD = ["packets", "utilisation", *NUMBERS, *(f"{name}_per_flow" for name in NUMBERS)]
# Higher than a sheet at the width of one.
TALL = b'<svg xmlns="http://www.w3.org/2000/svg" width="400" height="900"></svg>'


@pytest.fixture
def printed(tmp_path):
    """A page as a printer gets it, of somebody who likes it dark."""
    file = tmp_path / "report.html"
    parts = [
        "<h2>Every point</h2>",
        html.table_of([HEAD, *[["40", *["0.009121 ± 0.00076"] * (len(HEAD) - 1)]] * 3]),
        html.picture(Figure("tall", "A caption of a line or two. " * 8, None), TALL),
        f"<pre>flows: {{all: {'connections, ' * 20}}}</pre>",
    ]
    file.write_text(html.document("A report", parts))
    with browser() as chromium, page_of(chromium, viewport=SHEET, color_scheme="dark") as page:
        page.emulate_media(media="print")
        page.goto(file.as_uri())
        yield page


@needs_browser
def test_nothing_is_wider_than_a_sheet_and_no_figure_higher(printed):
    wide = printed.evaluate(
        """() => [...document.querySelectorAll("body *")]
             .map((each) => [each.outerHTML.slice(0, 60), each.getBoundingClientRect().right])
             .filter(([, right]) => right > innerWidth + 1)"""
    )
    assert wide == []
    heights = printed.evaluate(
        """() => [...document.querySelectorAll("figure")].map((each) =>
             [getComputedStyle(each).breakInside, each.getBoundingClientRect().height])"""
    )
    ((inside, height),) = heights
    assert inside == "avoid"
    assert height < SHEET["height"]


@needs_browser
def test_paper_is_white_and_what_only_a_screen_can_do_is_left_out(printed):
    colours = "getComputedStyle(document.body)"
    assert printed.evaluate(f"{colours}.backgroundColor") == "rgb(255, 255, 255)"
    assert printed.evaluate(f"{colours}.color") == "rgb(34, 34, 34)"
    assert not printed.get_by_text("larger or smaller").is_visible()
