"""The shown state of schedulers, buffers and senders predicts their next decisions."""

from playwright.sync_api import expect

from tests.glass.browser import needs_browser
from tests.page.conftest import needs_module
from tests.page.test_alone import opened, runs, standing

pytestmark = [needs_browser, needs_module]
PORT = 4
# At many samples: the tags of the first packets of all classes, and which of them leaves next.
CHOSEN = """(port) => {
  const { model } = vitrine, { insides } = model, found = [];
  const about = model.samples.aboutAt(vitrine.player.timePs);
  const { config } = about.ports.find((each) => each.port === port);
  for (const sample of model.samples.list.slice(-300, -20)) {
    vitrine.player.seek(sample.time_ps);
    const moment = vitrine.routerView.moment(sample.time_ps);
    const heads = config.queues.flatMap(({ class: class_ }) => {
      const [first] = insides.at(sample.time_ps).in(`queue ${port}/${class_}`);
      const tag = first && moment.tagsOf(port, class_, [first])?.get(first.id);
      return tag === undefined ? [] : [{ id: first.id, tag }];
    });
    const next = insides.between(sample.time_ps + 1, sample.time_ps + 50e9)
      .find((step) => step.kind === "departed" && step.at.port === port);
    const arrivals = insides.between(sample.time_ps + 1, next?.timePs ?? 0)
      .some((step) => step.kind === "queued");
    if (heads.length > 1 && next && !arrivals) found.push({ heads, left: next.of.id });
  }
  return found;
}"""


def test_the_packet_with_the_smallest_tag_leaves_first(chromium, vitrine):
    with standing(chromium, f"{vitrine}#open=schedulers") as page:
        steps = page.get_by_role("tabpanel", name="Lesson").locator("li")
        steps.get_by_role("button", name="Weighted fair queueing").click()
        page.wait_for_function("() => vitrine.side.lesson.at === 5")
        page.evaluate("vitrine.jump(0.4e12)")
        seen = page.evaluate(CHOSEN, PORT)
        assert len(seen) > 20
        for each in seen:
            least = min(head["tag"] for head in each["heads"])
            assert each["left"] in [h["id"] for h in each["heads"] if h["tag"] == least], each


def test_the_ingress_graph_counts_statements_as_the_source_does(chromium, vitrine):
    with opened(chromium, f"{vitrine}#open=firewall", desk=False) as page:
        runs(page)
        page.evaluate("vitrineAlone.show()")
        page.get_by_role("tab", name="Program").click()
        panel = page.get_by_role("tabpanel", name="Program")
        page.get_by_role("button", name="Follow 50 packets").click()
        page.evaluate("vitrine.player.setPace(0.5)")
        expect(panel).to_contain_text("50 packets were followed")
        line = panel.locator(".code .ran", has_text="first.write(at_first, 1)")
        times = line.locator(".times").text_content()
        page.get_by_role("button", name="Ingress graph").click()
        graph = panel.get_by_role("img", name="Ingress graph")
        # A register that is written is a statement, and no table.
        statement = graph.locator(".node.ran", has_text="first.write(at_first, 1)")
        expect(statement.locator(".times")).to_have_text(times)


def test_the_port_that_a_router_is_about_stays_in_sight(chromium, vitrine):
    seen = """() => {
      const { box } = vitrine.stage, { y } = vitrine.routerView.layout.rows.get(11);
      return y > box.scrollTop && y < box.scrollTop + box.clientHeight;
    }"""
    with standing(chromium, f"{vitrine}#open=square-root-rule") as page:
        page.wait_for_function(seen)
        for width, height in ((1280, 800), (390, 844), (1280, 620)):
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_function(f"() => innerWidth === {width} && ({seen})()")
        # After the user has scrolled, the picture stays there.
        page.get_by_role("region", name="The picture").press("Home")
        page.wait_for_function("() => vitrine.stage.box.scrollTop === 0")
        page.set_viewport_size({"width": 1280, "height": 640})
        page.wait_for_function("() => vitrine.routerView.room.endsWith(vitrine.stage.size.height)")
        assert page.evaluate("vitrine.stage.box.scrollTop") == 0


def test_on_a_low_screen_queues_are_high_enough_for_their_words(chromium, vitrine):
    # A laptop of 1366 x 768, without what is around a page.
    with standing(chromium, f"{vitrine}#open=hol-blocking") as page:
        page.set_viewport_size({"width": 1366, "height": 650})
        expect(page.locator(".labels")).to_contain_text("of 100 packets")
        first = page.evaluate("vitrine.routerView.layout.rows.get(1).inputs[0].h")
        assert first >= 12, "the first packets of a queue have numbers, and the rest a count"


def test_a_table_leaves_a_chart_in_sight(chromium, vitrine):
    with standing(chromium, f"{vitrine}#open=hol-blocking") as page:
        page.set_viewport_size({"width": 1280, "height": 800})
        chart = page.locator(".chart .curve").first
        page.get_by_text("The picture as a table").click()
        expect(page.get_by_role("table", name="Output queues")).to_be_visible()
        box = chart.bounding_box()
        assert box["y"] + box["height"] < page.locator(".time").bounding_box()["y"]
        assert page.evaluate("vitrine.routerView.layout.rows.get(1).inputs[0].h") >= 12


def test_a_chosen_queue_has_the_limit_that_is_in_force(chromium, vitrine):
    with standing(chromium, f"{vitrine}#open=hol-blocking") as page:
        depth = page.locator(".chart .value").first
        expect(depth).to_contain_text("of 100")
        page.keyboard.press("q")
        assert page.evaluate("vitrine.routerView.focus.key") == "input 1"
        page.evaluate("vitrine.side.handles.useVoqs()")
        expect(page.locator(".labels")).to_contain_text("→2")
        # An input with VOQs has no limit of its own.
        expect(depth).not_to_contain_text("of 100")
        page.evaluate("vitrine.side.handles.useFifos()")
        expect(depth).to_contain_text("of 100")


def test_the_key_has_the_names_that_flows_have_now(chromium, vitrine):
    with standing(chromium, f"{vitrine}#open=hol-blocking") as page:
        key = page.locator(".key")
        expect(key).to_contain_text("h1 → h4")
        # As when most of the data turns out to go the other way.
        page.evaluate("vitrine.flows.list.find(({ name }) => name === 'h1 → h4').name = 'h4 → h1'")
        expect(key).to_contain_text("h4 → h1")
