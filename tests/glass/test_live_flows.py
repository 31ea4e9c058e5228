"""Flows in a live network, started and stopped from the page; the hosts' programs are doubles."""

import contextlib
import os
import time

import pytest
from playwright.sync_api import expect

from labs.glass.scene import Router, Scene
from labs.worlds.live import flows as live_flows
from labs.worlds.live import telling
from labs.worlds.live.flows import Flows
from tests.controller import device_double
from tests.glass.browser import DEADLINE_S, needs_browser, page_of
from tests.glass.router_double import RouterDouble
from tests.glass.serving import NETWORK, glass_of
from tests.labs.test_live_flows import HostDouble

KEY = "secret"


@contextlib.contextmanager
def network(tmp_path, **options):
    """A glass before a live network of five hosts, and the hosts."""
    hosts = {f"h{n}": HostDouble(f"10.0.{n}.1", tmp_path) for n in range(1, 6)}
    double = RouterDouble(5.0)
    try:
        with (
            device_double.serving(double, double.handler) as address,
            telling.serving(dict.fromkeys(hosts, os.getpid()), address, Flows(hosts), KEY) as told,
            glass_of(
                Scene(
                    "live",
                    [Router("s2", address, 0)],
                    NETWORK,
                    router="s2",
                    port=2,
                    hosts_address=told,
                    hosts_key=KEY,
                    controls=["reno", "cubic", "bbr"],
                ),
                **options,
            ) as glass,
        ):
            yield glass, hosts
    finally:
        for process in (each for host in hosts.values() for each in host.processes):
            process.end()


@pytest.fixture(autouse=True)
def no_kernel(monkeypatch):
    """Asking the kernel for an algorithm needs root; and the double's clock begins at 0."""
    monkeypatch.setattr(live_flows.kernel, "allow_congestion_control", lambda _: None)
    monkeypatch.setattr(telling.time, "time_ns", time.monotonic_ns)


@needs_browser
def test_a_flow_is_started_stopped_and_taken_back(chromium, tmp_path):
    with network(tmp_path) as (glass, hosts), page_of(chromium) as page:
        page.goto(glass.url)
        page.get_by_role("tab", name="Flows").click()
        flow = page.get_by_role("group", name="A flow")
        assert flow.get_by_label("Kind").locator("option").all_inner_texts() == [
            *("TCP", "UDP", "ping")
        ]
        controls = flow.get_by_label("Congestion control")
        assert controls.locator("option").all_inner_texts() == ["reno", "cubic", "bbr"]
        controls.select_option("bbr")
        flow.get_by_label("To").select_option("h4")
        flow.get_by_role("button", name="Start").click()
        running = page.get_by_role("list", name="What runs")
        expect(running).to_contain_text("h1 → h4, TCP, bbr, 1")
        ((*_, port, _),) = hosts["h4"].asked
        assert hosts["h4"].asked == [["iperf3", "-s", "-p", port, "--forceflush"]]
        (asked,) = hosts["h1"].asked
        assert asked[:5] == ["iperf3", "-c", "10.0.4.1", "-p", port]
        assert asked[-2:] == ["-C", "bbr"]
        # There is nothing to cut: cables are the kernel's.
        expect(page.get_by_role("group", name="Cables")).to_be_hidden()
        (sender,) = hosts["h1"].processes
        running.get_by_role("button", name="Stop").click()
        expect(running).not_to_contain_text("bbr")
        assert sender.has_ended()
        # Other users' flows are listed but cannot be stopped here.
        expect(running.get_by_text("seen, not started by a page")).to_have_count(2)
        expect(running).to_contain_text("h3 → h5 TCP 10.0.3.1:40003 → 10.0.5.1:5201")
        expect(running.get_by_role("button", name="Stop")).to_have_count(0)
        page.get_by_role("tab", name="Log").click()
        log = page.locator(".log")
        expect(log).to_contain_text(f"h1 iperf3 -c h4 -p {port} -t 86400 -C bbr &")
        expect(log).to_contain_text(f"h1 kill %?{port}")
        page.get_by_role("button", name="Undo").click()
        expect(log).to_contain_text("goes on")
        assert len(hosts["h1"].asked) == 2


@needs_browser
def test_what_hosts_refuse_is_said_where_it_was_asked_for(chromium, tmp_path):
    with network(tmp_path) as (glass, hosts), page_of(chromium) as page:
        hosts["h1"].sends = ["sh", "-c", "echo no route to host; exit 1"]
        page.goto(glass.url)
        page.get_by_role("tab", name="Flows").click()
        flow = page.get_by_role("group", name="A flow")
        flow.get_by_role("button", name="Start").click()
        expect(flow.get_by_role("alert")).to_contain_text("iperf3 gave up: no route to host")
        # The flow's listener has ended, too.
        assert all(each.has_ended() for each in hosts["h5"].processes)


def test_a_class_starts_nothing(tmp_path):
    from vitrine.v1 import world_pb2

    from labs.glass import server
    from tests.glass.test_server import asked, opened

    with (
        network(tmp_path, host="0.0.0.0") as (glass, hosts),
        opened(glass, token=glass._looking_token) as socket,
    ):
        socket.recv(timeout=DEADLINE_S)
        request = world_pb2.StartRequest(host="h1")
        _, kind, _ = asked(socket, "/vitrine.v1.World/Start", request, server.WORLD)
        assert kind == server.REFUSED
        assert not any(each.asked for each in hosts.values())
