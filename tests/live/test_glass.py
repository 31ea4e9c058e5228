"""The glass before real routers and hosts: blocking seen and cured, a handle, Undo, the numbers."""

import grpc
import pytest
from playwright.sync_api import expect
from vitrine.v1 import router_pb2

from controller.connection import CHANNEL_OPTIONS
from controller.router_service import RouterStub
from labs.glass.__main__ import scene_of_now
from labs.hol_blocking.lab import CONGESTED, IDLE, INPUT
from tests.glass.browser import DEADLINE_MS, browser, needs_browser, page_of
from tests.glass.serving import glass_of
from tests.live import networks
from topo import wait
from topo.errors import ProcessError

pytestmark = needs_browser
BLOCKED = "Head-of-line blocking"
# The page stays behind a live router by less than a second; the rest is for a busy machine.
SAME_S = 30


@pytest.fixture
def network(tmp_path):
    with networks.hol_blocking(tmp_path) as live:
        yield live


@pytest.mark.nightly
def test_blocking_is_seen_and_cured_and_the_numbers_are_describes(network):
    senders = networks.begin_flows(network)
    scene = scene_of_now()
    assert scene.world == "live"
    (router,) = [each for each in scene.routers if each.name == "s2"]
    expect.set_options(timeout=DEADLINE_MS)
    with browser() as chromium, glass_of(scene) as glass, page_of(chromium) as page:
        page.goto(glass.url)
        expect(page.locator(".notice.found")).to_contain_text(BLOCKED)
        # The kernels of the hosts tell their windows.
        page.wait_for_function("() => vitrine.hosts.series(0, Infinity, (c) => c.cwnd).size >= 3")
        # Flows started outside of the page are listed as seen.
        page.get_by_role("tab", name="Flows").click()
        running = page.get_by_role("list", name="What runs")
        expect(running.get_by_text("seen, not started by a page")).to_have_count(3)
        expect(running).to_contain_text("h3 → h5 TCP")
        page.get_by_role("tab", name="Handles").click()
        page.get_by_role("button", name="Give every output its own queue").click()
        expect(page.locator(".labels")).to_contain_text("virtual output queues")
        expect(page.locator(".notice")).not_to_contain_text(BLOCKED)
        with grpc.insecure_channel(router.address, options=CHANNEL_OPTIONS) as channel:
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


def test_a_port_goes_and_comes_back_while_others_carry_on(network):
    (router,) = [each for each in scene_of_now().routers if each.name == "s2"]
    expect.set_options(timeout=DEADLINE_MS)
    with (
        grpc.insecure_channel(router.address, options=CHANNEL_OPTIONS) as channel,
        browser() as chromium,
        glass_of(scene_of_now()) as glass,
        page_of(chromium) as page,
    ):
        stub = RouterStub(channel)

        def ports():
            told = stub.describe(router_pb2.DescribeRequest(device_id=router.device_id))
            return {each.port: each for each in told.ports}

        page.goto(glass.url)
        expect(page.locator(".labels")).to_contain_text("→ h5")
        assert answers(network, "h3", "h5")
        before = ports()[IDLE].config

        remove(page)
        expect(page.locator(".labels")).not_to_contain_text("→ h5")
        assert IDLE not in ports()
        assert not answers(network, "h3", "h5")
        assert answers(network, "h1", "h4")

        # Taken back it is what it was, and packets pass again.
        page.get_by_role("tab", name="Log").click()
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".log")).to_contain_text("Undone")
        expect(page.locator(".labels")).to_contain_text("→ h5")
        assert ports()[IDLE].config == before
        assert answers(network, "h3", "h5")

        # The same by the name of its device; one that is not the router's own is refused.
        page.get_by_role("tab", name="Handles").click()
        remove(page)
        expect(page.locator(".labels")).not_to_contain_text("→ h5")
        another = page.locator("details[data-id='another port']")
        another.locator("summary").click()
        another.get_by_label("Number").fill(str(IDLE))
        another.get_by_label("Network device").fill("lo")
        another.get_by_role("button", name="Add port").click()
        expect(another.get_by_role("alert")).to_contain_text("may not use lo")
        another.get_by_label("Network device").fill(f"s2-eth{IDLE}")
        another.get_by_role("button", name="Add port").click()
        expect(page.locator(".labels")).to_contain_text("→ h5")
        assert ports()[IDLE].device == f"s2-eth{IDLE}"
        assert answers(network, "h3", "h5")
        page.get_by_role("tab", name="Log").click()
        for line in (
            f"Ports(session).remove({IDLE})",
            f'Ports(session).add({IDLE}, "s2-eth{IDLE}")',
        ):
            expect(page.locator(".log")).to_contain_text(line)


def remove(page):
    """By the button of a port that is idle."""
    group = page.get_by_role("group", name=f"Port {IDLE}, to h5")
    group.get_by_text("Cable, shapers, limits over all queues").click()
    group.get_by_role("button", name=f"Remove port {IDLE}").click()


def answers(live, source, target):
    """Whether a ping comes back."""
    argv = ["ping", "-c", "1", "-W", "2", str(live.host(target).address)]
    try:
        live.host(source).run(argv)
    except ProcessError:
        return False
    return True
