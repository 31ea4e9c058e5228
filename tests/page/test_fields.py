"""The values of fields, counters and the packet panel: in place, once, and nothing early."""

import re

from playwright.sync_api import expect

from tests.glass.browser import needs_browser
from tests.page.conftest import needs_module
from tests.page.test_alone import standing

pytestmark = [needs_browser, needs_module]


def test_a_refusal_stands_at_its_field_once_and_goes_when_it_is_corrected(chromium, vitrine):
    with standing(chromium, f"{vitrine}#open=bufferbloat") as page:
        page.get_by_role("tab", name="Handles").click()
        panel = page.get_by_role("tabpanel", name="Handles")
        line = panel.locator('[data-field="rate 1"]')
        refused = panel.get_by_role("alert")
        for wrong in ("fast", "faster"):
            line.fill(wrong)
            expect(refused).to_have_count(0)
            line.press("Enter")
            expect(refused).to_have_count(1)
        line.fill("20 Mb/s")
        expect(refused).to_have_count(0)
        line.press("Enter")
        page.wait_for_function(
            "() => vitrine.side.handles.about.ports[0].config.rate_bps === 20_000_000"
        )
        expect(refused).to_have_count(0)


def test_a_counter_has_its_unit_and_one_that_is_not_there_a_sentence(chromium, vitrine):
    with standing(chromium, f"{vitrine}#open=hol-blocking") as page:
        counter = page.get_by_label("A counter of the router")
        counter.fill("port 9 / held")
        counter.press("Enter")
        charts = page.get_by_role("region", name="Charts")
        expect(charts.get_by_role("alert")).to_contain_text('no counter "port 9 / held"')
        counter.fill("port 2 / counters / queue 0 / held / bytes")
        counter.press("Enter")
        expect(charts.get_by_role("alert")).to_have_count(0)
        page.evaluate("vitrine.slow()")
        value = page.locator(".chart", has_text="Counter").locator(".value")
        expect(value).to_have_text(re.compile(r"^[0-9.]+ kB$"))
        # The controller's port has its name, and no number.
        ports = page.evaluate("[...vitrine.charts.known].map((path) => path.split(' / ')[0])")
        assert "CPU port" in ports
        assert "port 510" not in ports


def test_the_panel_of_a_packet_tells_nothing_of_what_is_still_to_come(chromium, vitrine):
    with standing(chromium, f"{vitrine}#open=hol-blocking") as page:
        # The picture shows an earlier instant than the latest received.
        page.evaluate("vitrine.player.seek(vitrine.player.toldPs - 0.1e12)")
        page.wait_for_function("() => vitrine.stage.spots.length > 3")
        page.keyboard.press("n")
        steps = page.get_by_role("tabpanel", name="Packet").locator(".steps").first
        expect(steps).to_contain_text(" at ")
        told = """() => {
          const { insides } = vitrine.model, { packet } = vitrine.side.packet;
          const all = insides.steps.filter((step) => step.id === packet.id);
          return [all.filter((step) => step.timePs <= vitrine.shownPs).length, all.length];
        }"""
        past, all_steps = page.evaluate(told)
        assert past < all_steps
        expect(steps.get_by_role("listitem")).to_have_count(past)
        # With time its way goes on.
        page.evaluate("vitrine.player.seek(vitrine.player.toldPs); vitrine.slow()")
        expect(steps.get_by_role("listitem")).to_have_count(all_steps)
