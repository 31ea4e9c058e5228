"""Figures of a report are enlarged by click, wheel, keys and fingers, in a browser."""

import pytest

from labs.definition import Figure
from labs.report import html
from tests.glass.browser import needs_browser, page_of

pytestmark = needs_browser

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 400"><path d="M0 0h9v4z"/></svg>'
VIEW = "document.querySelector('figure .wide')"
# How many times as wide as its view the picture is, and where in it the point at (x, y) lies.
SIZE = f"{VIEW}.querySelector('img').clientWidth / {VIEW}.clientWidth"
PLACE = f"({VIEW}.scrollLeft + 200) / {VIEW}.scrollWidth"


@pytest.fixture
def page(chromium, tmp_path):
    figure = Figure("queue", "The queue.", lambda canvas: None)
    file = tmp_path / "report.html"
    file.write_text(html.document("A report", [html.picture(figure, SVG)]))
    with page_of(chromium, has_touch=True) as page:
        page.goto(file.as_uri())
        yield page


def test_the_wheel_with_ctrl_enlarges_around_the_pointer_and_alone_moves_the_page(page):
    box = page.locator("figure .wide").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.wheel(0, -100)
    assert page.evaluate(SIZE) == pytest.approx(1, abs=0.01)
    before = page.evaluate(PLACE)
    page.keyboard.down("Control")
    for _ in range(3):
        page.mouse.wheel(0, -100)
    page.wait_for_function(f"{SIZE} > 1.9")
    assert page.evaluate(SIZE) == pytest.approx(1.25**3, abs=0.03)
    assert page.evaluate(PLACE) == pytest.approx(before, abs=0.01)
    # The page stays as long as it was.
    assert page.locator("figure .wide").bounding_box()["height"] == pytest.approx(box["height"])
    for _ in range(9):
        page.mouse.wheel(0, 100)
    page.wait_for_function(f"{SIZE} < 1.01")


def test_keys_enlarge_the_selected_figure_and_0_makes_it_as_it_was(page):
    page.locator("figure .wide").focus()
    for _ in range(2):
        page.keyboard.press("+")
    assert page.evaluate(SIZE) == pytest.approx(1.25**2, abs=0.03)
    page.keyboard.press("-")
    assert page.evaluate(SIZE) == pytest.approx(1.25, abs=0.03)
    page.keyboard.press("0")
    assert page.evaluate(SIZE) == pytest.approx(1, abs=0.01)


def test_a_click_enlarges_what_is_under_it_and_another_one_makes_it_as_it_was(page):
    picture = page.locator("figure .wide")
    place = page.evaluate(PLACE)
    picture.click(position={"x": 200, "y": 100})
    assert page.evaluate(SIZE) == pytest.approx(2.2, abs=0.03)
    assert page.evaluate(PLACE) == pytest.approx(place, abs=0.01)
    picture.click()
    assert page.evaluate(SIZE) == pytest.approx(1, abs=0.01)


def test_the_link_above_a_figure_and_two_fingers_do_so_too(page):
    page.get_by_text("larger or smaller").click()
    assert page.evaluate(SIZE) == pytest.approx(2.2, abs=0.03)
    page.get_by_text("larger or smaller").click()
    assert page.evaluate(SIZE) == pytest.approx(1, abs=0.01)
    spread = """(steps) => {
      const view = document.querySelector("figure .wide");
      const touch = (id, x) => new Touch({ identifier: id, target: view, clientX: x, clientY: 90 });
      for (const apart of steps) {
        const touches = [touch(1, 300 - apart / 2), touch(2, 300 + apart / 2)];
        view.dispatchEvent(new TouchEvent("touchmove", { touches, cancelable: true }));
      }
    }"""
    page.evaluate(spread, [100, 150, 300])
    assert page.evaluate(SIZE) == pytest.approx(3, abs=0.05)
