"""The page as a person uses it, in Chromium, before a router that is a double."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from vitrine.v1 import router_pb2

from labs.glass.scene import Scene
from tests.glass.browser import needs_browser, page_of
from tests.glass.serving import NETWORK, glass_of, glass_of_double

pytestmark = needs_browser
BLOCKED = "Head-of-line blocking"


def notice(page):
    return page.locator(".notice")


def test_blocking_is_seen_and_cured_with_one_click(chromium):
    with glass_of_double() as (glass, double), page_of(chromium) as page:
        page.goto(glass.url)
        expect(notice(page)).to_contain_text(BLOCKED)
        expect(notice(page)).to_contain_text("for output 3 (to h5), which is idle")
        page.get_by_role("button", name="Give every output its own queue").click()
        expect(page.locator(".labels")).to_contain_text("virtual output queues")
        expect(notice(page)).not_to_contain_text(BLOCKED)
        (request,) = double.configured
        assert request.input.queueing == router_pb2.VOQ
        # As long for each output as the FIFO was for all.
        assert request.input.voq_limit.packets == 30
        assert request.role == "glass"


def test_a_handle_acts_is_logged_and_taken_back(chromium):
    with glass_of_double() as (glass, double), page_of(chromium) as page:
        page.goto(glass.url)
        group = page.get_by_role("group", name="Port 2, to h4")
        group.get_by_label("Line", exact=True).fill("5 Mb/s")
        group.get_by_label("Line", exact=True).press("Enter")
        expect(page.locator(".labels")).to_contain_text("5 Mb/s")
        assert double.configured[-1].ports[0].config.rate_bps == 5_000_000
        page.get_by_role("tab", name="Log").click()
        log = page.locator(".log")
        expect(log).to_contain_text("ports: {2: {rate: 5 Mb/s}}")
        expect(log).to_contain_text("PortSettings(rate_bps=5_000_000)")
        expect(log).to_contain_text("apps.qos --router")
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".labels")).not_to_contain_text("5 Mb/s100")
        expect(log).to_contain_text("Undone")
        assert double.configured[-1].ports[0].config.rate_bps == 10_000_000
        expect(page.get_by_role("button", name="Undo")).to_be_disabled()


def test_what_is_under_way_is_taken_back_when_it_is_done(chromium):
    with glass_of_double() as (glass, double), page_of(chromium) as page:
        page.goto(glass.url)
        expect(notice(page)).to_contain_text(BLOCKED)
        both = "(({ handles }) => Promise.all([handles.useVoqs(), handles.takeBack()]))"
        page.evaluate(f"{both}(vitrine.side)")
        queueing = [each.input.queueing for each in double.configured]
        assert queueing == [router_pb2.VOQ, router_pb2.FIFO]
        assert page.evaluate("vitrine.side.handles.done.length") == 0


def test_what_is_refused_is_said_at_the_handle_in_the_routers_words(chromium):
    with glass_of_double() as (glass, double), page_of(chromium) as page:
        double.refusal = router_pb2.Problem(
            place="port 2, rate", found="7 b/s", advice="give at least 8 kb/s"
        )
        page.goto(glass.url)
        group = page.get_by_role("group", name="Port 2, to h4")
        group.get_by_label("Line", exact=True).fill("7 b/s")
        group.get_by_label("Line", exact=True).press("Enter")
        said = group.get_by_role("alert")
        expect(said).to_have_text("port 2, rate: 7 b/s; give at least 8 kb/s")
        # It is still said when one has gone elsewhere and the field shows again what is in force.
        page.get_by_role("tab", name="Handles").focus()
        expect(group.get_by_label("Line", exact=True)).to_have_value("10 Mb/s")
        expect(said).to_have_text("port 2, rate: 7 b/s; give at least 8 kb/s")
        # Text that cannot be parsed does not even reach the router.
        group.get_by_label("Limit of the queue").fill("plenty")
        group.get_by_label("Limit of the queue").press("Enter")
        expect(group.get_by_role("alert").last).to_contain_text("20 packets")


def test_time_stands_goes_back_and_goes_on_by_keyboard(chromium):
    with glass_of_double() as (glass, _), page_of(chromium) as page:
        page.goto(glass.url)
        expect(notice(page)).to_contain_text(BLOCKED)
        # There has to be something to go back to.
        page.wait_for_function(
            "begun => vitrine.player.timePs > begun + 2e8",
            arg=page.evaluate("vitrine.player.timePs"),
        )
        page.keyboard.press("Space")
        expect(page.locator(".time")).to_contain_text("paused")
        now = page.evaluate("vitrine.player.timePs")
        # Twice: the first may lead to the last thing told, behind which there is nothing yet.
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        earlier = page.evaluate("vitrine.player.timePs")
        assert earlier < now
        page.keyboard.press("ArrowRight")
        assert page.evaluate("vitrine.player.timePs") > earlier
        page.keyboard.press("Shift+ArrowLeft")
        page.keyboard.press("-")
        page.keyboard.press("Space")
        expect(page.locator(".time")).to_contain_text("1 s shows 500 ms")
        page.keyboard.press("l")
        expect(page.get_by_role("button", name="Live")).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("0")
        expect(notice(page)).to_contain_text("click a router")
        page.keyboard.press("1")
        expect(page.locator(".labels")).to_contain_text("input queues")


def keep_packets(page):
    """The double is slower than the clock; a page takes that for a machine that cannot keep up, and
    soon asks for no packets any more."""
    page.evaluate(
        """vitrine.watching.forEach((each) => {
             each.patience = new each.patience.constructor({ isLive: false });
             each.begin();
           })"""
    )


def test_a_packet_that_is_clicked_tells_its_way(chromium):
    with glass_of_double() as (glass, _), page_of(chromium) as page:
        page.goto(glass.url)
        expect(notice(page)).to_contain_text(BLOCKED)
        keep_packets(page)
        page.keyboard.press("Space")
        page.wait_for_function("() => vitrine.stage.spots.length > 5")
        x, y = page.evaluate(
            "(() => { const s = vitrine.stage.spots[5]; return [s.x + s.w / 2, s.y + s.h / 2]; })()"
        )
        page.locator(".canvas").click(position={"x": x, "y": y})
        panel = page.get_by_role("tabpanel", name="Packet")
        expect(panel).to_contain_text("came in by port 1")
        expect(panel).to_contain_text("waits at input 1")
        expect(panel).to_contain_text("1514 bytes")
        # In a full queue every place is a packet: its queue is the one whose depth is drawn.
        assert page.evaluate("vitrine.routerView.focus.key") == "input 1"


def test_packets_and_queues_are_chosen_by_keyboard(chromium):
    with glass_of_double() as (glass, _), page_of(chromium) as page:
        page.goto(glass.url)
        expect(notice(page)).to_contain_text(BLOCKED)
        keep_packets(page)
        # So that there is something to go back to.
        page.wait_for_function("() => vitrine.player.timePs > vitrine.player.startPs + 1e11")
        page.keyboard.press("Space")
        page.wait_for_function("() => vitrine.stage.spots.length > 5")
        page.keyboard.press("n")
        panel = page.get_by_role("tabpanel", name="Packet")
        first = page.evaluate("vitrine.routerView.chosen")
        expect(panel).to_contain_text(f"number {first}")
        expect(page.get_by_role("status").filter(has_text=f"Packet {first}: ")).to_have_count(1)
        page.keyboard.press("n")
        second = page.evaluate("vitrine.routerView.chosen")
        assert second != first
        page.keyboard.press("Shift+N")
        expect(panel).to_contain_text(f"number {first}")
        # Input 1, output queue 1, input 2, output queue 2.
        for _ in range(4):
            page.keyboard.press("q")
        expect(page.locator(".chart").first).to_contain_text("port 2, class 0")
        told = page.get_by_role("status").filter(has_text="port 2, class 0: 20 packets, ")
        expect(told).to_have_count(1)
        # A curve's instants are reached by keyboard, too.
        chart = page.locator(".chart").first
        chart.get_by_text("As a table").focus()
        page.keyboard.press("Enter")
        row = chart.get_by_role("table").get_by_role("button").first
        row.focus()
        before = page.evaluate("vitrine.player.timePs")
        page.keyboard.press("Enter")
        page.wait_for_function("then => vitrine.player.timePs < then", arg=before)


def test_steps_lead_to_events_packets_or_slots(chromium):
    with glass_of_double() as (glass, _), page_of(chromium) as page:
        page.goto(glass.url)
        expect(notice(page)).to_contain_text(BLOCKED)
        keep_packets(page)
        page.keyboard.press("Space")
        page.keyboard.press("s")
        expect(page.get_by_label("Step by")).to_have_value("packet")
        for _ in range(3):
            page.keyboard.press("ArrowLeft")
            kinds = page.evaluate(
                """(() => { const { insides } = vitrine.model; const now = vitrine.player.timePs;
                     return insides.steps.filter((each) => each.timePs === now)
                       .map((each) => each.kind); })()"""
            )
            assert {"received", "transmitted", "dropped"} & set(kinds)


def at_the_newest_instant(page, double):
    """Leads the page to the newest instant of the router, and returns what its queues held then."""
    double.stand_still()
    page.wait_for_function("now => vitrine.player.toldPs >= now", arg=double.model.now)
    page.evaluate("vitrine.player.seek(vitrine.player.toldPs)")
    page.evaluate("vitrine.slow()")
    return double.counters_now()


def assert_queues_hold(page, held):
    for port, packets in held.items():
        row = page.get_by_role("row", name=f"port {port}, class 0")
        expect(row.get_by_role("cell").first).to_have_text(str(packets))


def test_the_numbers_are_the_routers_own(chromium):
    with glass_of_double() as (glass, double), page_of(chromium) as page:
        page.goto(glass.url)
        expect(notice(page)).to_contain_text(BLOCKED)
        page.keyboard.press("Space")
        page.get_by_text("The picture as a table").click()
        held = at_the_newest_instant(page, double)
        assert held[2] > 0
        assert_queues_hold(page, held)
        # A busy page falls behind and begins its Watch anew, which starts with the packets inside.
        begun = "vitrine.model.insides.steps.filter(({ kind }) => kind === 'begin').length"
        before = page.evaluate(begun)
        page.evaluate("vitrine.watching[0].begin()")
        page.wait_for_function(f"before => {begun} > before", arg=before)
        page.evaluate("vitrine.slow()")
        assert_queues_hold(page, held)


def test_charts_are_chosen_kept_and_show_an_instant_everywhere(chromium):
    with glass_of_double() as (glass, _), page_of(chromium) as page:
        page.goto(glass.url)
        expect(notice(page)).to_contain_text(BLOCKED)
        charts = page.get_by_role("region", name="Charts")
        charts.get_by_label("Add a chart").select_option("Drops by reason")
        counter = "port 3 / counters / queue 0 / held / packets"
        charts.get_by_label("A counter of the router").fill(counter)
        charts.get_by_label("A counter of the router").press("Enter")
        expect(charts.get_by_role("img")).to_have_count(4)
        expect(charts.locator(".chart").last).to_contain_text(counter)
        # They are there again when the page is loaded again.
        page.reload()
        expect(charts.get_by_role("img")).to_have_count(4)
        expect(charts.locator(".u-over")).to_have_count(4)
        expect(notice(page)).to_contain_text(BLOCKED)
        keep_packets(page)
        # Later than where is pointed at: three pixels are up to 0.35 s.
        page.wait_for_function("() => vitrine.player.timePs > vitrine.player.startPs + 6e11")
        page.keyboard.press("Space")
        now = page.locator(".time .now").inner_text()
        box = charts.locator(".u-over").first.bounding_box()
        page.mouse.move(box["x"] + 3, box["y"] + 20)
        page.wait_for_function("() => vitrine.timeBar.pointedPs !== undefined")
        pointed = page.evaluate("vitrine.timeBar.pointedPs / 1e12")
        expect(page.locator(".time .now")).not_to_have_text(now)
        assert abs(float(page.locator(".time .now").inner_text().split()[0]) - pointed) < 0.011
        # All that have this instant say what they have there; the others go on to say the newest.
        everywhere = "({ plot }) => plot.pointed * 1e12 === vitrine.timeBar.pointedPs"
        assert page.evaluate(f"vitrine.charts.list.every({everywhere})")
        expect(charts.locator(".value").first).to_contain_text(" s: ")
        page.mouse.move(5, 5)
        expect(page.locator(".time .now")).to_have_text(now)
        assert_one_axis_is_zoomed_panned_and_measured(page, charts)
        page.get_by_role("button", name="Remove the chart Drops by reason").click()
        expect(charts.get_by_role("img")).to_have_count(3)


# The span that each track shows, in seconds.
SPANS = """() => vitrine.charts.list.map(({ plot: { plot } }) =>
  [plot.scales.x.min, plot.scales.x.max])"""

# The instant of the first track at an x of the page.
SECONDS_AT = """((x) => {
  const { plot } = vitrine.charts.list[0].plot;
  return plot.posToVal(x - plot.over.getBoundingClientRect().left, "x");
})"""


def assert_one_axis_is_zoomed_panned_and_measured(page, charts):
    def span():
        spans = page.evaluate(SPANS)
        assert all(each == spans[0] for each in spans), "all tracks show the same span"
        return spans[0]

    first = charts.locator(".u-over").first
    follow = charts.get_by_role("button", name="Back to now")
    expect(follow).to_be_disabled()
    began = span()
    box = first.bounding_box()
    middle, height = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(middle, height)
    # To all that is known, and then closer.
    for _ in range(3):
        page.mouse.wheel(0, -100)
    page.wait_for_function(
        """() => {
          const { chosen, known } = vitrine.charts.axis;
          const span = chosen ? chosen.toPs - chosen.fromPs : Infinity;
          return Math.abs(span / (known.toldPs - known.startPs) - 1 / 1.5 ** 2) < 0.2;
        }""",
    )
    closer = span()
    # To the right: what was before comes into sight, and where the picture is stays.
    now = page.evaluate("vitrine.player.timePs")
    page.mouse.down()
    page.mouse.move(middle + 40, height, steps=4)
    page.mouse.up()
    earlier = span()
    assert earlier[0] < closer[0]
    assert earlier[1] - earlier[0] == pytest.approx(closer[1] - closer[0])
    assert page.evaluate("vitrine.player.timePs") == now
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(middle - 60, height, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    measured = charts.get_by_text("measured")
    expect(measured).to_be_visible()
    expect(charts.locator(".value").first).to_contain_text("mean: ")
    assert span() == earlier
    # A click goes there, and the measured span ends.
    page.mouse.click(middle - 30, height)
    at = f"{SECONDS_AT}({middle - 30})"
    page.wait_for_function(f"() => Math.abs(vitrine.player.timePs / 1e12 - {at}) < 1e-6")
    assert page.evaluate("vitrine.player.timePs") < now
    expect(measured).to_be_hidden()
    expect(charts.locator(".value").first).not_to_contain_text("mean")
    # By keyboard, too.
    charts.get_by_role("button", name="Zoom out").press("Enter")
    assert span()[1] - span()[0] > earlier[1] - earlier[0]
    follow.click()
    expect(follow).to_be_disabled()
    assert span() == began


def test_text_from_outside_does_not_become_markup(chromium):
    name = "<img src=x onerror=alert(1)>"
    network = {**NETWORK, "cables": [*NETWORK["cables"][:4]]}
    network["cables"] = [
        *network["cables"],
        [{"node": name, "port": None}, {"node": "s2", "port": 2}],
    ]
    network["hosts"] = [{"name": name, "addresses": ["10.0.4.1"]}]
    with glass_of_double(network=network) as (glass, _), page_of(chromium) as page:
        page.goto(glass.url)
        expect(page.locator(".labels")).to_contain_text(name)
        assert page.locator("img[src=x]").count() == 0


def test_every_labs_handout_can_be_read_beside_the_view(chromium):
    with glass_of_double() as (glass, _), page_of(chromium) as page:
        page.goto(glass.url)
        page.get_by_role("tab", name="Handout").click()
        panel = page.get_by_role("tabpanel", name="Handout")
        chosen = panel.get_by_label("Handout of the lab")
        labs = [each.inner_text() for each in chosen.locator("option").all()]
        assert {"hol-blocking", "schedulers", "shared-buffer", "crossbar-arbiters"} <= set(labs)
        for lab in labs:
            chosen.select_option(lab)
            expect(panel.get_by_role("heading", name="By hand first")).to_have_count(1)
            # Nothing of how it is written is left.
            words = panel.locator(".handout :is(p, li, td, h2, h3)").all_inner_texts()
            assert not [each for each in words if "](" in each or "**" in each]
            panel.locator(".handout").evaluate("node => node.replaceChildren()")


def test_a_page_that_may_only_look_has_no_handles(chromium):
    with glass_of_double(host="0.0.0.0") as (glass, _), page_of(chromium) as page:
        page.goto(f"http://127.0.0.1:{glass.port}/#{glass._looking_token}")
        expect(page.get_by_text("looking only")).to_be_visible()
        expect(notice(page)).to_contain_text(BLOCKED)
        assert page.get_by_role("tab", name="Handles").count() == 0
        page.get_by_role("tab", name="Program").click()
        assert page.get_by_role("button", name="Follow").count() == 0
        assert notice(page).get_by_role("button").count() == 0


def test_a_page_without_routers_token_or_server_says_what_to_do(chromium):
    with glass_of(Scene("live", [])) as glass, page_of(chromium) as page:
        page.goto(glass.url)
        expect(page.get_by_role("heading")).to_have_text("No network is up")
    with glass_of_double() as (glass, _), page_of(chromium) as page:
        page.goto(glass.url.partition("#")[0])
        expect(page.get_by_role("heading")).to_have_text("This address is not complete")
    with glass_of_double() as (glass, _), page_of(chromium) as page:
        page.goto(glass.url)
        expect(notice(page)).to_contain_text(BLOCKED)
        lost = page.locator(".veil")
        # The page asks something, and the answer will never come.
        page.evaluate("vitrine.watching[0].begin(); vitrine.calls.way.close()")
        expect(lost).to_contain_text("The connection has ended")
        # Data received before stays.
        page.keyboard.press("Shift+ArrowLeft")
        expect(page.locator(".labels")).to_contain_text("of 20 packets")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_bars_the_way_of_those_who_see_or_move_otherwise(chromium, scheme):
    with glass_of_double() as (glass, _), page_of(chromium, color_scheme=scheme) as page:
        page.goto(glass.url)
        expect(notice(page)).to_contain_text(BLOCKED)
        page.get_by_text("The picture as a table").click()
        for tab in page.get_by_role("tab").all():
            tab.click()
            found = Axe().run(page).response["violations"]
            grave = [each for each in found if each["impact"] in ("serious", "critical")]
            assert [(each["id"], [n["html"] for n in each["nodes"]]) for each in grave] == []


def test_a_table_follows_a_router_whose_packets_are_not_told(chromium):
    with glass_of_double() as (glass, double), page_of(chromium) as page:
        double.tells_packets = False
        page.goto(glass.url)
        expect(notice(page)).to_contain_text("Too many packets")
        expect(page.locator(".labels")).to_contain_text("20 of 20 packets")
