"""The page before a network in virtual time: what `make glass` shows with nothing up."""

import re
import subprocess
import time

import grpc
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from vitrine.v1 import router_pb2

from controller.connection import CHANNEL_OPTIONS
from controller.router_service import RouterStub
from controller.session import Session
from controller.toolchain import ROOT, Toolchain
from labs.glass import virtual
from labs.worlds.virtual.server import BINARY
from tests.glass.browser import DEADLINE_MS, needs_browser, page_of, tab_to
from tests.glass.serving import glass_of

pytestmark = [
    needs_browser,
    pytest.mark.skipif(
        not BINARY.exists() or subprocess.run([BINARY, "serve", "--help"]).returncode != 0,
        reason=f"{BINARY} has no `serve`: run make build",
    ),
]


@pytest.fixture
def lesson():
    return virtual.FIRST


@pytest.fixture
def scene(tmp_path, lesson):
    with virtual.showing(lesson, tmp_path) as scene:
        yield scene


@pytest.fixture
def page(chromium, scene):
    with glass_of(scene) as glass, page_of(chromium) as page:
        page.goto(glass.url)
        page.wait_for_function("() => window.vitrine?.isSettled")
        yield page


def pass_until(page, time_ps):
    """The network goes on until an instant of its own time, whatever the machine's speed."""
    page.wait_for_function("() => window.vitrine?.isSettled && !vitrine.world.isBusy")
    page.evaluate("(until) => vitrine.world.advance(until)", time_ps)
    page.wait_for_function("(at) => vitrine.player.toldPs >= at", arg=time_ps)
    page.evaluate("(at) => vitrine.player.seek(at)", time_ps)


def test_blocking_is_seen_and_the_crossbar_is_stepped_through_phase_by_phase(page):
    expect(page.locator(".notice")).to_contain_text("Head-of-line blocking")
    page.get_by_role("button", name="Give every output its own queue").click()
    expect(page.locator(".labels")).to_contain_text("virtual output queues")
    page.evaluate("vitrine.player.setPace(2e-4)")
    page.keyboard.press("Space")
    seen = []
    # An arbitration is at most some dozen events away: the slow line takes a frame every 1.2 ms.
    # After the last known event a press lets time pass until something happens.
    deadline_s = time.monotonic() + DEADLINE_MS / 1000
    while time.monotonic() < deadline_s:
        page.keyboard.press("ArrowRight")
        # Presses that come faster than the network tells would add up.
        page.wait_for_function("() => !vitrine.timeBar.stepsDue")
        if page.evaluate("vitrine.timeBar.phase") is not None:
            page.evaluate("vitrine.slow()")
            seen.append(page.locator(".labels .head .small").all_inner_texts())
        elif seen:
            break
    words = [text for texts in seen for text in texts if text]
    # The next arbitration may follow at once.
    phases = ["requests", "grants", "accepts", "pointers move"]
    assert words and words == phases * (len(words) // len(phases))
    page.get_by_text("The picture as a table").click()
    expect(page.get_by_role("table", name="The crossbar's last arbitration")).to_contain_text("→")
    # The same as a matrix for each round: each matched pair has a disc.
    page.get_by_role("tab", name="Arbiter").click()
    matrices = page.get_by_role("tabpanel", name="Arbiter")
    expect(matrices).to_contain_text("iSLIP at ")
    matched = page.evaluate(
        """() => vitrine.model.insides.at(vitrine.shownPs, "test").arbitration.rounds
             .flatMap(({ accepts }) => accepts).length"""
    )
    expect(matrices.locator("td.matched")).to_have_count(matched)
    # A pointer for each output and each input.
    pointers = matrices.locator("table").first.locator("td i")
    assert "".join(pointers.all_inner_texts()).count("▾") == 3


def test_the_program_shows_what_ran_and_its_tables_are_steered(page):
    page.get_by_role("tab", name="Program").click()
    source = page.get_by_role("region", name="Source of programs/router.p4")
    # The whole file, as it is on the disk.
    expect(source).to_contain_text("control ingress(")
    page.get_by_role("button", name="Follow 50 packets").click()
    page.evaluate("vitrine.player.setPace(0.005)")
    panel = page.get_by_role("tabpanel", name="Program")
    expect(panel).to_contain_text("50 packets were followed")
    page.keyboard.press("Escape")
    page.evaluate("vitrine.player.pause()")
    expect(panel.locator(".code .ran").first).to_be_visible()
    page.get_by_role("button", name="Ingress graph").click()
    graph = panel.get_by_role("img", name="Ingress graph")
    expect(graph.locator(".table.ran", has_text="ipv4_routes")).to_contain_text("50")
    page.get_by_role("button", name="Parser graph").click()
    states = panel.get_by_role("img", name="Parser graph").locator(".node")
    expect(states.filter(has_text="parse_ipv4").first).to_contain_text("50")
    page.get_by_role("button", name="Counters, meters").click()
    page.get_by_role("button", name="Read class_traffic").click()
    expect(panel.get_by_role("table")).to_contain_text("cells are not zero")

    page.get_by_role("button", name="Tables", exact=True).click()
    routes = panel.locator("details[data-table=ipv4_routes]")
    routes.locator("summary").click()
    routes.get_by_role("button", name="Add an entry to ipv4_routes").click()
    form = routes.get_by_role("form", name="A new entry of ipv4_routes")
    form.get_by_label("hdr.ipv4.dst_addr (lpm)").fill("10.9.0")
    form.get_by_role("button", name="Add").click()
    expect(routes.get_by_role("alert")).to_contain_text("write 10.0.1.0")
    form.get_by_label("hdr.ipv4.dst_addr (lpm)").fill("10.9.0.7/16")
    form.get_by_label("action").select_option("set_next_hop")
    given = {"port (9": "3", "src_addr (48": "02:00:00:00:00:01", "dst_addr (48": "7"}
    for name, value in given.items():
        form.get_by_label(f"{name} bits)", exact=True).fill(value)
    form.get_by_role("button", name="Add").click()
    added = routes.get_by_role("row", name="10.9.0.0/16")
    expect(added).to_contain_text("set_next_hop(port = 3")
    routes.get_by_role("button", name="Change the entry 10.9.0.0/16").click()
    form = routes.get_by_role("form", name="Change an entry of ipv4_routes")
    form.get_by_label("port (9 bits)").fill("600")
    form.get_by_role("button", name="Change").click()
    expect(routes.get_by_role("alert")).to_contain_text("9 bits wide")
    form.get_by_label("port (9 bits)").fill("2")
    form.get_by_role("button", name="Change").click()
    expect(added).to_contain_text("port = 2")
    page.get_by_role("tab", name="Log").click()
    log = page.locator(".log")
    expect(log).to_contain_text('session.modify([Entry("ipv4_routes"')
    expect(log).to_contain_text('te = table_entry["ingress.routing.ipv4_routes"]')
    undo = page.get_by_role("button", name="Undo")
    undo.click()
    expect(log).to_contain_text("Undone: ipv4_routes")
    page.get_by_role("tab", name="Program").click()
    expect(added).to_contain_text("port = 3")
    page.get_by_role("tab", name="Log").click()
    undo.click()
    expect(undo).to_be_disabled()
    page.get_by_role("tab", name="Program").click()
    expect(added).to_have_count(0)


def test_cells_are_set_and_a_program_that_is_replaced_is_read_again(page, scene):
    expect(page.locator(".notice")).to_contain_text("Head-of-line blocking")
    page.evaluate("vitrine.player.pause()")
    page.get_by_role("tab", name="Program").click()
    panel = page.get_by_role("tabpanel", name="Program")
    page.get_by_role("button", name="Counters, meters").click()
    panel.get_by_text("Set a cell of class_traffic").click()
    form = panel.get_by_role("form", name="Set a cell of class_traffic")
    form.get_by_label("cell").fill("3")
    form.get_by_label("packets").fill("many")
    form.get_by_role("button", name="Set").click()
    expect(form.get_by_role("alert")).to_contain_text("whole number")
    form.get_by_label("packets").fill("1234567")
    panel.get_by_role("button", name="Read class_traffic").click()
    form.get_by_role("button", name="Set").click()
    cell = panel.get_by_role("row", name="1,234,567")
    expect(cell).to_be_visible()
    page.get_by_role("tab", name="Log").click()
    expect(page.locator(".log")).to_contain_text("ce.packet_count = 1234567")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("tab", name="Program").click()
    expect(cell).to_have_count(0)

    page.get_by_role("button", name="Source", exact=True).click()
    expect(panel.get_by_role("region", name="Source of programs/router.p4")).to_be_visible()
    (router,) = [each for each in scene.routers if each.name == "s2"]
    with Session.connect(router.address, device_id=router.device_id) as session:
        session.load(*Toolchain.VITRINE.compiled(ROOT / "p4src/programs/cable.p4"))
    expect(panel.get_by_role("region", name="Source of programs/cable.p4")).to_be_visible()
    expect(panel).not_to_contain_text("router.p4")


# Nothing runs in this network but what the test starts, and nothing is lost.
@pytest.mark.parametrize("lesson", ["bufferbloat"])
def test_a_packets_life_names_entries_decodes_headers_and_leads_to_the_program(page):
    page.evaluate("vitrine.player.pause()")
    page.evaluate("vitrine.world.startTcp('h1', 'h2', 'reno')")
    pass_until(page, 0.3e12)
    page.wait_for_function("() => vitrine.stage.spots.length > 3")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("n")
    panel = page.get_by_role("tabpanel", name="Packet")
    panel.get_by_role("button", name="Follow the next one through the program").click()
    expect(panel).to_contain_text("Waiting for the next packet of this flow")
    pass_until(page, 1e12)
    as_it_left = panel.get_by_text("As it left: ")
    expect(as_it_left).to_be_visible()
    flow = page.evaluate("vitrine.side.packet.packet.flow.detail")
    target = flow.partition("→ ")[2].partition(":")[0]
    expect(panel).to_contain_text(re.compile(rf"ipv4_routes: entry {re.escape(target)}/32"))
    panel.get_by_text("As it came in: ").click()
    as_it_left.click()
    rows = panel.get_by_role("row").filter(has_text="ttl")
    # A router decrements it.
    came, left = (int(each.split()[-1]) for each in rows.all_inner_texts())
    assert left == came - 1
    expect(panel.get_by_role("row", name="ipv4 dst_addr").first).to_contain_text(target)
    panel.get_by_role("button", name="control/routing.p4:").first.click()
    marked = page.get_by_role("tabpanel", name="Program").locator(".code [aria-current=location]")
    expect(marked).to_be_in_viewport()
    expect(marked).to_have_count(1)


# The settings of each lesson's port at the end.
LAST = {
    "bufferbloat": "about.ports[1].config.queue_count === 2",
    "link-sharing": "about.ports[2].config.scheduler.groups.length === 2",
    "queue-management": "about.ports[1].config.queues[0].aqm.kind === 'ecn_step'",
}


@pytest.mark.parametrize("lesson", LAST)
def test_the_steps_of_a_lesson_set_the_scene_one_after_the_other(page, lesson):
    panel = page.get_by_role("tabpanel", name="Lesson")
    steps = panel.locator("li")
    expect(steps.first).to_be_visible()
    for number in range(steps.count()):
        step = steps.nth(number)
        expect(step).to_have_attribute("aria-current", "step")
        question = step.locator("textarea")
        if question.count():
            question.fill(f"answer {number}")
        button = step.locator("button.main")
        if button.count():
            button.click()
        elif number < steps.count() - 1:
            step.get_by_role("button", name="Next").click()
        expect(panel.get_by_role("alert")).to_have_count(0)
    # The last step may be one that acts.
    page.wait_for_function(f"() => (({{ about }}) => {LAST[lesson]})(vitrine.side.handles)")
    # Everything that was done is in the log.
    page.get_by_role("tab", name="Log").click()
    done = page.locator(".log")
    expect(done).to_contain_text("PortSettings(")
    with page.expect_download() as download:
        page.get_by_role("tab", name="Lesson").click()
        page.get_by_label("Your name").fill("Ada Lovelace")
        page.get_by_role("button", name="Save the file").click()
    assert download.value.suggested_filename == f"{lesson}-ada-lovelace.html"
    handed_in = download.value.path().read_text()
    assert "answer 8" in handed_in
    assert "PortSettings(" in handed_in
    # Answers are still there when the page is loaded again.
    page.reload()
    expect(steps.locator("textarea").first).to_have_value(re.compile("answer "))


@pytest.mark.parametrize("lesson", ["queue-management"])
def test_a_lesson_that_begins_again_takes_back_what_was_done(page):
    panel = page.get_by_role("tabpanel", name="Lesson")
    manages = "vitrine.side.handles.about.ports[1].config.queues[0].aqm?.kind"
    panel.get_by_role("button", name="Manage it with CoDel").click()
    page.wait_for_function(f"() => {manages} === 'codel'")
    panel.get_by_role("button", name="Manage it with PIE").click()
    page.wait_for_function(f"() => {manages} === 'pie'")
    panel.get_by_role("button", name="Begin this lesson again").click()
    expect(panel.locator("li").first).to_have_attribute("aria-current", "step")
    assert page.evaluate(manages) is None
    page.get_by_role("tab", name="Log").click()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()


# The colour of the first pixel of the first picture, and how many dark ones a heading in it has.
TAKEN = """
async () => {
  const image = document.querySelector(".lesson img");
  await image.decode();
  const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const box = vitrine.stage.box.getBoundingClientRect();
  const heading = [...document.querySelectorAll(".labels .head")]
    .find((each) => each.textContent === "output queues");
  const { left, top, width, height } = heading.getBoundingClientRect();
  const { data } = context.getImageData(left - box.left, top - box.top, width, height);
  const red = data.filter((_, at) => at % 4 === 0), dark = red.filter((each) => each < 128).length;
  return { ground: [...context.getImageData(0, 0, 1, 1).data], dark };
}
"""


def test_a_picture_to_hand_in_is_light_and_has_its_words(page):
    expect(page.locator(".notice")).to_contain_text("Head-of-line blocking")
    page.keyboard.press("Space")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.get_by_role("button", name="Slow down to see it").click()
    page.evaluate("vitrine.player.pause(); vitrine.slow()")
    page.get_by_role("button", name="Take the picture").first.click()
    found = page.evaluate(TAKEN)
    assert found["ground"] == [246, 247, 249, 255]
    assert found["dark"] > 50
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_lesson_needs_no_pointer(page):
    """Head-of-line blocking from its first step to its last one, by keyboard alone."""
    expect(page.locator(".notice")).to_contain_text("Head-of-line blocking")
    press = page.keyboard.press

    def to(name):
        tab_to(page, name)

    to("Slow down to see it")
    press("Enter")
    # The next step has the focus, and not its field: keys are for time until the reader goes there.
    page.wait_for_function("() => document.activeElement.matches('li[aria-current]')")
    press("Tab")
    assert page.evaluate("document.activeElement.matches('textarea')")
    page.keyboard.type("for the head")
    to("Take the picture")
    press("Enter")
    to("Next")
    press("Enter")
    to("Switch to VOQ")
    press("Space")
    expect(page.locator(".labels")).to_contain_text("virtual output queues")
    page.wait_for_function("() => document.activeElement.matches('li[aria-current]')")
    to("Next")
    press("Enter")
    to("FIFO, speedup 2")
    press("Enter")
    expect(page.locator(".labels")).to_contain_text("crossbar × 2")  # noqa: RUF001
    page.wait_for_function("() => document.activeElement.matches('li[aria-current]')")
    to("Next")
    press("Enter")
    steps = page.get_by_role("tabpanel", name="Lesson").locator("li")
    expect(steps.last).to_have_attribute("aria-current", "step")
    # Every panel is reached by the arrows of the tabs.
    for _ in range(60):
        if page.evaluate("document.activeElement.matches('[role=tab]')"):
            break
        press("Shift+Tab")
    press("ArrowRight")
    expect(page.get_by_role("tabpanel", name="Handles")).to_be_visible()


def test_the_pages_numbers_are_those_of_describe_at_the_same_instant(page, scene):
    expect(page.locator(".notice")).to_contain_text("Head-of-line blocking")
    page.evaluate("vitrine.player.setPace(0.05)")
    page.wait_for_function("() => vitrine.player.timePs > 2.05e12")
    page.evaluate("vitrine.player.pause()")
    # The network is paused; the picture catches up with it once all data has arrived.
    page.evaluate("vitrine.world.catchUp()")
    page.wait_for_function(
        "() => !vitrine.world.isBusy && vitrine.player.timePs === vitrine.world.reachedPs"
    )
    page.get_by_text("The picture as a table").click()
    page.evaluate("vitrine.slow()")
    (router,) = [each for each in scene.routers if each.name == "s2"]
    with grpc.insecure_channel(router.address, options=CHANNEL_OPTIONS) as channel:
        request = router_pb2.DescribeRequest(device_id=router.device_id)
        told = RouterStub(channel).describe(request)
    assert told.time_ps == page.evaluate("vitrine.player.timePs")
    assert sum(port.counters.held.packets for port in told.ports) > 10
    for port in told.ports:
        for queue in port.counters.queues if port.port < 510 else []:
            name = f"port {port.port}, class {getattr(queue, 'class')}"
            row = page.get_by_role("table", name="Output queues").get_by_role("row", name=name)
            expect(row.get_by_role("cell").first).to_have_text(str(queue.held.packets))
    for each in told.inputs:
        if each.port < 510:
            row = page.get_by_role("table", name="Input queues").get_by_role(
                "row", name=f"input {each.port}"
            )
            expect(row.get_by_role("cell").first).to_have_text(str(each.held.packets))
    # Single packets agree with the counters: every drawn packet exists.
    drawn = page.evaluate(
        """() => [...vitrine.model.insides.at(vitrine.player.timePs).packets.values()]
             .filter(({ kind }) => kind === "filed" || kind === "queued").length"""
    )
    assert drawn == told.books.held_packets


@pytest.mark.parametrize("lesson", ["link-sharing"])
def test_flows_and_cables_are_steered_and_taken_back(page):
    page.get_by_role("tab", name="Flows").click()
    panel = page.get_by_role("tabpanel", name="Flows")
    runs = panel.get_by_role("list", name="What runs").get_by_role("listitem")
    # Those of the lesson, which this page has not started.
    expect(runs).to_have_count(2)
    expect(runs.filter(has_text="h2 → h4, cubic")).to_have_count(1)
    panel.get_by_label("Kind").select_option("UDP in bursts")
    panel.get_by_label("Rate").fill("fast")
    panel.get_by_role("button", name="Start").click()
    expect(panel.get_by_role("alert")).to_contain_text("write 10 Mb/s")
    panel.get_by_label("Rate").fill("2 Mb/s")
    panel.get_by_role("button", name="Start").click()
    expect(runs).to_have_count(3)
    runs.filter(has_text="h2 → h4, cubic").get_by_role("button").click()
    expect(runs).to_have_count(2)
    panel.get_by_role("button", name="Cut h4").click()
    mending = panel.get_by_role("button", name="Mend h4")
    expect(mending).to_be_visible()
    # Whatever others cut is seen, too.
    page.evaluate("vitrine.world.call('Fault', { cut: { node: 'h1' } })")
    expect(panel.get_by_role("button", name="Mend h1")).to_be_visible()

    page.get_by_role("tab", name="Log").click()
    log, undo = page.locator(".log"), page.get_by_role("button", name="Undo")
    for said in (
        'world.start("h1", App(datagram_source=DatagramSource(to=Peer(host="h4", port=6001), '
        "bursts=DatagramSource.Bursts(rate_bps=2_000_000, datagrams=10))))",
        'world.fault(FaultRequest(cut=CableEnd(node="h4")))',
        "world.stop(4)",
    ):
        expect(log).to_contain_text(said)
    undo.click()
    expect(log).to_contain_text('world.fault(FaultRequest(mend=CableEnd(node="h4")))')
    undo.click()
    expect(log).to_contain_text(
        'world.start("h2", App(bulk=Bulk(to=Peer(host="10.0.4.1", port=5202), '
        'congestion_control="cubic")))'
    )
    undo.click()
    expect(log).to_contain_text("world.stop(6)\nworld.stop(5)", use_inner_text=True)
    expect(undo).to_be_disabled()
    page.get_by_role("tab", name="Flows").click()
    expect(mending).to_have_count(0)
    expect(runs).to_have_count(2)
    expect(runs.filter(has_text="UDP")).to_have_count(0)


def test_handles_say_lines_that_reach_their_router(page, scene):
    expect(page.locator(".notice")).to_contain_text("Head-of-line blocking")
    page.get_by_role("tab", name="Handles").click()
    page.get_by_label("Shared by all output queues").fill("64 kB")
    page.get_by_label("Shared by all output queues").press("Enter")
    page.get_by_role("tab", name="Log").click()
    shell = page.locator(".log pre", has_text="apps.qos")
    # The act stands in the log once the router has answered.
    expect(shell).to_have_count(1)
    (line,) = shell.all_inner_texts()
    # A list of parameters has a field, too.
    page.get_by_role("tab", name="Handles").click()
    port = page.get_by_role("group", name="Port 2, to h4")
    port.get_by_label("Queue management").select_option("red")
    port.get_by_text("Parameters of red").click()
    profiles = port.get_by_label("profiles")
    profiles.fill("5 to 9 at 2 %; 4 to 8 at 5 %")
    profiles.press("Enter")
    expect(page.locator(".log")).to_contain_text(
        "profiles: [{min: 5 packets, max: 9 packets, probability: 2 %}, "
        "{min: 4 packets, max: 8 packets, probability: 5 %}]",
        use_inner_text=False,
    )
    expect(profiles).to_have_value("5 to 9 at 2 %; 4 to 8 at 5 %")
    (router,) = [each for each in scene.routers if each.name == "s2"]
    assert f"--router {router.address}/{router.device_id} " in line


def test_a_ping_of_somebody_else_ends_for_good(page):
    expect(page.locator(".notice")).to_contain_text("Head-of-line blocking")
    page.evaluate("vitrine.world.call('Start', { host: 'h1', app: { ping: { to: 'h5' } } })")
    page.get_by_role("tab", name="Flows").click()
    page.get_by_role("button", name="Stop h1: ping").click()
    expect(page.get_by_role("button", name="Stop h1: ping")).to_have_count(0)
    page.get_by_role("tab", name="Log").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("tabpanel", name="Log")).to_contain_text("cannot be taken back")
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()


def test_a_class_sees_what_the_page_that_steers_lets_pass(chromium, scene):
    with (
        glass_of(scene, host="0.0.0.0") as glass,
        page_of(chromium) as steering,
        page_of(chromium) as looking,
    ):
        looking.goto(f"http://127.0.0.1:{glass.port}/#{glass._looking_token}")
        expect(looking.get_by_text("looking only")).to_be_visible()
        steering.goto(glass.url)
        steering.wait_for_function("() => window.vitrine?.isSettled")
        expect(steering.locator(".notice")).to_contain_text("Head-of-line blocking")
        steering.evaluate("vitrine.player.pause()")
        pass_until(steering, 2.2e12)
        # The looking page follows the steering one to its instant, and stays there.
        looking.wait_for_function("() => vitrine.player.timePs > 0.9999 * 2.2e12")
        expect(looking.locator(".time")).to_contain_text("follows the page that steers")
        expect(steering.locator(".notice")).to_contain_text("Head-of-line blocking")
        expect(looking.locator(".notice")).to_contain_text("Head-of-line blocking")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_of_the_program_or_of_charts_bars_anybodys_way(chromium, scene, scheme):
    with glass_of(scene) as glass, page_of(chromium, color_scheme=scheme) as page:
        page.goto(glass.url)
        expect(page.locator(".notice")).to_contain_text("Head-of-line blocking")
        page.get_by_label("Add a chart").select_option("Round-trip times")
        page.get_by_role("tab", name="Program").click()
        parts = page.get_by_role("group", name="Parts of the program").get_by_role("button")
        # The panels beside it, those of hosts and cables among them, have something to show.
        page.get_by_role("tab", name="Flows").click()
        page.get_by_role("button", name="Cut h4").click()
        expect(page.get_by_role("button", name="Mend h4")).to_be_visible()
        others = [
            page.get_by_role("tab", name=name) for name in ("Flows", "Log", "Handles", "Lesson")
        ]
        for chosen in [*others, page.get_by_role("tab", name="Program"), *parts.all()]:
            chosen.click()
            page.wait_for_timeout(300)
            found = Axe().run(page).response["violations"]
            grave = [each for each in found if each["impact"] in ("serious", "critical")]
            assert [(each["id"], [n["html"] for n in each["nodes"]]) for each in grave] == []


def test_a_tablet_a_projector_and_reduced_motion_have_all_they_need(chromium, scene):
    with glass_of(scene) as glass:
        tablet = {"viewport": {"width": 810, "height": 1080}, "has_touch": True}
        with page_of(chromium, **tablet) as page:
            page.goto(glass.url)
            expect(page.locator(".notice")).to_contain_text("Head-of-line blocking")
            # Nothing is wider than the tablet, and a finger chooses a queue.
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            # An empty one: in others a finger finds packets.
            strip = page.evaluate("vitrine.routerView.layout.rows.get(1).queues[0]")
            page.locator(".canvas").tap(position={"x": strip["x"] + 4, "y": strip["y"] + 4})
            expect(page.locator(".chart").first).to_contain_text("port 1, class 0")
        with page_of(chromium, reduced_motion="reduce") as page:
            page.goto(glass.url)
            expect(page.locator(".notice")).to_contain_text("Head-of-line blocking")
            assert page.evaluate("vitrine.routerView.now.moves") is False
            page.keyboard.press("p")
            # Readable from the back row: no text of the picture is below 18 pixels.
            page.evaluate("vitrine.slow()")
            sizes = page.evaluate(
                """() => [...document.querySelectorAll(".labels *, .notice p, .time output")]
                     .filter((each) => each.textContent && each.checkVisibility())
                     .map((each) => parseFloat(getComputedStyle(each).fontSize))"""
            )
            assert min(sizes) >= 18
            expect(page.get_by_role("tablist")).to_be_hidden()
            # The step of the lesson that one is at stays, and no other one.
            expect(page.locator(".lesson li").first).to_be_visible()
            expect(page.locator(".lesson li").nth(1)).to_be_hidden()
            stage = page.locator(".stage").bounding_box()
            assert stage["y"] + stage["height"] <= page.locator(".charts").bounding_box()["y"] + 1
