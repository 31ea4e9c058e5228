"""The glass before real routers and hosts: blocking seen and cured, a handle, Undo, the numbers."""

import grpc
import pytest
from playwright.sync_api import expect
from vitrine.v1 import router_pb2

from controller.router_service import RouterStub
from labs import routers
from labs.glass.__main__ import scene_of_now
from labs.hol_blocking.lab import CONGESTED, IDLE, INPUT, HolBlocking
from labs.settings import Settings
from labs.worlds.live import network as lab_network
from tests.glass.browser import DEADLINE_MS, browser, needs_browser, page_of
from tests.glass.serving import glass_of
from topo import wait

pytestmark = needs_browser
BLOCKED = "Head-of-line blocking"
LISTEN_PORT = 5201
# The page stays behind a live router by less than a second; the rest is for a busy machine.
SAME_S = 30


@pytest.fixture
def network(tmp_path, monkeypatch):
    """The network of the lab with one FIFO at its input, and its three flows."""
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path / "run"))
    lab = HolBlocking(Settings(quick=True))
    (fifo,) = [run for run in lab.runs() if run.name == "fifo"]
    with lab_network.programmed(lab.topology(fifo), logs=tmp_path) as (live, _):
        routers.look_at("s2", CONGESTED)
        yield live


def begin_flows(live):
    """The programs that send."""
    senders = []
    for number, (source, target) in enumerate((("h1", "h4"), ("h2", "h4"), ("h3", "h5"))):
        port = str(LISTEN_PORT + number)
        listening = live.host(target).start(
            ["iperf3", "-s", "-1", "-p", port, "--forceflush"], live.logs / f"to-{source}.log"
        )
        wait.until(
            lambda log=listening.log: "listening" in log.read_text(), "a listening iperf3", 10
        )
        argv = ["iperf3", "-c", str(live.host(target).address), "-p", port, "-t", "600"]
        senders.append(live.host(source).start(argv, live.logs / f"from-{source}.log"))
    return senders


def test_blocking_is_seen_and_cured_and_the_numbers_are_describes(network):
    senders = begin_flows(network)
    scene = scene_of_now()
    assert scene.world == "live"
    (router,) = [each for each in scene.routers if each.name == "s2"]
    expect.set_options(timeout=DEADLINE_MS)
    with browser() as chromium, glass_of(scene) as glass, page_of(chromium) as page:
        page.goto(glass.url)
        expect(page.locator(".notice.found")).to_contain_text(BLOCKED)
        # The kernels of the hosts tell their windows.
        page.wait_for_function("() => vitrine.hosts.series(0, Infinity, (c) => c.cwnd).size >= 3")
        page.get_by_role("button", name="Give every output its own queue").click()
        expect(page.locator(".labels")).to_contain_text("virtual output queues")
        expect(page.locator(".notice")).not_to_contain_text(BLOCKED)
        with grpc.insecure_channel(router.address) as channel:
            stub = RouterStub(channel)

            def described():
                return stub.describe(router_pb2.DescribeRequest(device_id=router.device_id))

            assert described().input.queueing == router_pb2.VOQ
            # At this rate a frame takes longer than it takes to compare: what waits can be counted.
            line = page.get_by_role("group", name=f"Port {CONGESTED}, to h4").get_by_label(
                "Line", exact=True
            )
            line.fill("8 kb/s")
            line.press("Enter")
            expect(page.locator(".labels")).to_contain_text("8 kb/s")
            assert rate_of(described()) == 8_000
            for sender in senders:
                sender.end()
            page.get_by_text("The picture as a table").click()
            assert held(described())[f"port {CONGESTED}, class 0"] > 0
            wait_until_the_page_says_what_is_told(page, described)
            page.get_by_role("tab", name="Log").click()
            expect(page.locator(".log")).to_contain_text("PortSettings(rate_bps=8_000)")
            page.get_by_role("button", name="Undo").click()
            expect(page.locator(".log")).to_contain_text("Undone")
            assert rate_of(described()) == 10_000_000


def rate_of(told):
    (port,) = [each for each in told.ports if each.port == CONGESTED]
    return port.config.rate_bps


def wait_until_the_page_says_what_is_told(page, described):
    """A packet of this line takes a second and more: page and Describe meet between two of them."""

    def agree():
        told = held(described())
        page.evaluate("vitrine.slow()")
        return told == {
            name: int(page.get_by_role("row", name=name).get_by_role("cell").first.inner_text())
            for name in told
        }

    wait.until(agree, "a page that shows the queues that Describe tells", SAME_S)


def held(told):
    """Packets of the queues of the lab's ports, by the names of the page's rows."""
    found = {
        f"port {port.port}, class {getattr(queue, 'class')}": queue.held.packets
        for port in told.ports
        if port.port in (CONGESTED, IDLE)
        for queue in port.counters.queues
    }
    inputs = {f"input {each.port}": each.held.packets for each in told.inputs}
    return {**found, f"input {INPUT}": inputs[f"input {INPUT}"]}
