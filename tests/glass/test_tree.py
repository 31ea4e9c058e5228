"""A hierarchical scheduler and ports, changed from the page before a network in virtual time."""

import subprocess

import grpc
import pytest
from playwright.sync_api import expect
from vitrine.v1 import router_pb2

from controller.connection import CHANNEL_OPTIONS
from controller.router_service import RouterStub
from labs.glass import virtual
from labs.worlds.virtual.server import BINARY
from tests.glass.browser import DEADLINE_S, needs_browser, page_of
from tests.glass.serving import glass_of
from topo import wait

pytestmark = [
    needs_browser,
    pytest.mark.skipif(
        not BINARY.exists() or subprocess.run([BINARY, "serve", "--help"]).returncode != 0,
        reason=f"{BINARY} has no `serve`: run make build",
    ),
]
# Three queues: large packets, small ones, a ping.
LESSON, PORT = "schedulers", 4


@pytest.fixture
def scene(tmp_path):
    with virtual.showing(LESSON, tmp_path) as scene:
        yield scene


@pytest.fixture
def page(chromium, scene):
    with glass_of(scene) as glass, page_of(chromium) as page:
        page.goto(glass.url)
        page.get_by_role("tab", name="Handles").click()
        yield page


def scheduler(scene):
    (router,) = scene.routers
    with grpc.insecure_channel(router.address, options=CHANNEL_OPTIONS) as channel:
        request = router_pb2.DescribeRequest(device_id=router.device_id, ports=[PORT])
        told = RouterStub(channel).describe(request, timeout=DEADLINE_S)
    return told.ports[0].config.scheduler


def shape(node):
    """A tree as names of inner nodes and numbers of classes."""
    if node.HasField("leaf"):
        return getattr(node.leaf, "class")
    return {node.name: [shape(each) for each in node.children]}


def fold(page, name):
    """The fields of a node, unfolded."""
    found = page.locator(f"details:has(> summary:has-text('{name}'))").last
    if found.get_attribute("open") is None:
        found.locator("summary").click()
    return found


def test_a_hierarchy_is_made_changed_node_by_node_and_taken_back(page, scene):
    port = page.get_by_role("group", name=f"Port {PORT}, to h4")
    port.get_by_label("Who goes first").select_option("hierarchy")
    expect(port.get_by_text("class2, class 2")).to_be_visible()
    assert shape(scheduler(scene).hierarchy) == {"port": [0, 1, 2]}
    most = fold(port, "class2, class 2").get_by_label("at most, with what it borrows")
    most.fill("700 kb/s")
    most.press("Enter")
    page.get_by_role("tab", name="Log").click()
    expect(page.locator(".log")).to_contain_text('Node("class2"')
    expect(page.locator(".log")).to_contain_text("ceil: 700 kb/s")
    assert scheduler(scene).hierarchy.children[2].ceil_bps == 700_000
    page.get_by_role("tab", name="Handles").click()
    # Two classes together below a node of their own.
    fold(port, "class0, class 0").get_by_label("stands below").select_option("a new node")
    expect(port.get_by_text("group1: ")).to_be_visible()
    fold(port, "class1, class 1").get_by_label("stands below").select_option("group1")
    wait.until(
        lambda: shape(scheduler(scene).hierarchy) == {"port": [{"group1": [0, 1]}, 2]},
        "a tree with both classes below one node",
        60,
    )
    # More than its parent has: the router's own sentence, and nothing has changed.
    rate = fold(port, "class2, class 2").get_by_label("guaranteed")
    rate.fill("90 Mb/s")
    rate.press("Enter")
    expect(port.get_by_role("alert")).to_contain_text(f"port {PORT}")
    assert scheduler(scene).hierarchy.children[1].rate_bps < 90_000_000
    page.get_by_role("tab", name="Log").click()
    for number in range(1, 5):
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("Undone:")).to_have_count(number)
    assert scheduler(scene).groups[0].discipline == router_pb2.WRR


def test_ports_of_a_network_in_virtual_time_stay_and_the_router_says_so(page):
    port = page.get_by_role("group", name=f"Port {PORT}, to h4")
    port.get_by_text("Cable, shapers, limits over all queues").click()
    port.get_by_role("button", name=f"Remove port {PORT}").click()
    expect(port.get_by_role("alert")).to_contain_text("its network was built with")
    page.get_by_text("Another port").click()
    page.get_by_role("button", name="Add port").click()
    expect(page.locator("details[data-id='another port']").get_by_role("alert")).to_be_visible()
