"""The page with the insides of routers, as a cell shows it: opened in a browser."""

from tests.glass.browser import needs_browser, page_of
from vitrine import World


@needs_browser
def test_a_cell_shows_the_routers_of_a_network(chromium, tmp_path):
    from playwright.sync_api import expect

    world = World("labs/bottleneck/topology.yaml")
    world.send("h1", "h2", congestion="reno")
    world.run(seconds=1)
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!doctype html><body>{world.glass()._repr_html_()}</body>")
    with page_of(chromium, offline=True) as page:
        page.goto(cell.as_uri())
        inside = page.frame_locator("iframe")
        expect(inside.get_by_text("a recording")).to_be_visible()
        expect(inside.locator(".labels")).to_contain_text("of 50 packets")
