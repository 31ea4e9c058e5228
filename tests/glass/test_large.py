"""Large routers and large networks load, and all of them is there."""

import pytest
from playwright.sync_api import expect

from tests.glass import bench
from tests.glass.browser import needs_browser, page_of

pytestmark = needs_browser


@pytest.fixture
def page(chromium, tmp_path, monkeypatch, row):
    # The test is about the elements of the page, not about the number of events.
    monkeypatch.setattr(bench, "STEPS_MAX", 3000)
    file = tmp_path / "inside.html"
    bench.recording(row).write(file)
    with page_of(chromium, offline=True) as page:
        page.goto(file.as_uri())
        page.wait_for_function("() => window.vitrine?.player.toldPs > 0")
        page.evaluate("vitrine.player.pause()")
        yield page


@pytest.mark.parametrize("row", bench.ROWS[1:2], ids=lambda row: row.name)
def test_a_router_of_64_ports_shows_each_of_them_where_one_looks(page):
    labels = page.locator(".labels .port.right")
    expect(labels).to_have_count(64)
    drawn = "vitrine.stage.spots.map(({ packet }) => packet.outPort)"
    page.wait_for_function(f"() => {drawn}.includes(1)")
    assert 64 not in page.evaluate(drawn)
    # The last one comes into sight when the picture is scrolled there, and so do its packets.
    page.get_by_role("region", name="The picture").press("End")
    page.wait_for_function(f"() => {drawn}.includes(64)")
    # It glides there.
    page.wait_for_function(
        """() => { const { box, top } = vitrine.stage;
                   return top === box.scrollTop
                     && top + box.clientHeight >= box.scrollHeight - 1; }"""
    )
    page.wait_for_function(f"() => !{drawn}.includes(1)")
    x, y = page.evaluate(
        """(() => { const { x, y, w, h } = vitrine.stage.spots.find((s) => s.packet.outPort === 64);
                    return [x + w / 2, y + h / 2 - vitrine.stage.top]; })()"""
    )
    page.locator(".canvas").click(position={"x": x, "y": y})
    expect(page.get_by_role("tabpanel", name="Packet")).to_contain_text("1514 bytes")


@pytest.mark.parametrize("row", bench.ROWS[2:], ids=lambda row: row.name)
def test_a_network_of_20_routers_shows_all_of_them_and_each_is_entered(page):
    page.keyboard.press("0")
    expect(page.locator(".labels .node")).to_have_count(40)
    page.locator(".labels").get_by_role("button", name="s20", exact=True).click()
    expect(page.locator(".labels .port.right")).to_have_count(4)
    expect(page.locator(".labels")).to_contain_text("62 of 62 packets")
