"""The page beside a run: its address is said, and it shows one network after the other."""

import contextlib
import io
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect

from labs import routers
from labs.glass import beside
from tests.controller import device_double
from tests.glass.browser import DEADLINE_MS, browser, needs_browser, page_of
from tests.glass.router_double import RouterDouble
from tests.glass.serving import NETWORK


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    monkeypatch.delenv("GLASS", raising=False)


def test_nothing_is_served_where_it_is_not_wanted(monkeypatch):
    monkeypatch.setenv("GLASS", "off")
    told = io.StringIO()
    with beside.served(told):
        pass
    assert told.getvalue() == ""


def test_a_run_goes_on_whether_anybody_looks_or_not():
    told = io.StringIO()
    with beside.served(told):
        assert re.fullmatch(r"The glass: http://127\.0\.0\.1:\d+/#\S+\n", told.getvalue())
    # Several runs at a time each have their own.
    with ThreadPoolExecutor() as pool:
        outputs = [io.StringIO(), io.StringIO()]
        list(pool.map(_serve, outputs))
    addresses = [output.getvalue() for output in outputs]
    assert len(set(addresses)) == 2


def _serve(output):
    with beside.served(output):
        pass


@needs_browser
def test_the_page_goes_from_network_to_network():
    expect.set_options(timeout=DEADLINE_MS)
    told = io.StringIO()
    other = {**NETWORK, "routers": [{"name": "r9", "deviceId": 0}], "cables": []}
    with beside.served(told), browser() as chromium, page_of(chromium) as page:
        page.goto(told.getvalue().split()[-1])
        expect(page.get_by_role("heading")).to_have_text("No network is up")
        with _network("s2", NETWORK):
            expect(page.get_by_role("button", name="s2", exact=True)).to_be_visible()
            expect(page.locator(".labels")).to_contain_text("of 20 packets")
        # What was told can still be looked at.
        expect(page.locator(".veil")).to_contain_text("cannot be reached")
        page.keyboard.press("Shift+ArrowLeft")
        expect(page.locator(".labels")).to_contain_text("of 20 packets")
        with _network("r9", other):
            expect(page.get_by_role("button", name="r9", exact=True)).to_be_visible()
            expect(page.locator(".labels")).to_contain_text("of 20 packets")
            expect(page.locator(".veil")).to_be_hidden()


@contextlib.contextmanager
def _network(name, network):
    """A double that is announced."""
    double = RouterDouble(5.0)
    with (
        device_double.serving(double, double.handler) as address,
        routers.announced({name: address}, network),
    ):
        yield
