"""The page beside a run: its address is said, and it shows one network after the other."""

import contextlib
import io
import os
import re
import subprocess
import webbrowser
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import expect

from controller import routers
from controller.toolchain import ROOT
from labs.errors import LabError
from labs.glass import beside, desktop, ready
from tests.controller import device_double
from tests.glass.browser import needs_browser, page_of
from tests.glass.router_double import RouterDouble
from tests.glass.serving import NETWORK
from topo import wait


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))


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


def test_the_page_that_is_one_file_is_opened_or_said_to_be_missing(tmp_path, monkeypatch, capsys):
    shown = []
    monkeypatch.setattr(desktop, "show", shown.append)
    file = tmp_path / "a page.html"
    with pytest.raises(LabError, match="make page makes it"):
        ready.show(file)
    file.write_text("<!doctype html>")
    ready.show(file)
    assert shown == [file.as_uri()]
    assert capsys.readouterr().out == f"The page that needs nothing: {file.as_uri()}\n"


# Stands where `xdg-open` and `sudo` are on a machine with a desktop.
OPENER = """#!/bin/sh
echo "$@" >> "$OPENED"
"""
SUDO = """#!/bin/sh
echo "as $2" >> "$OPENED"
shift 2
exec "$@"
"""


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """The file in which a desktop's browser says what it was given."""
    # Without a default browser in the desktop's settings, xdg-open runs.
    programs = {"xdg-open": OPENER, "sudo": SUDO, "xdg-settings": "#!/bin/sh\n"}
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("OPENED", str(tmp_path / "opened"))
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("SUDO_USER", "ada")
    monkeypatch.delenv("BROWSER", raising=False)
    return tmp_path / "opened"


@pytest.mark.parametrize("is_root", [True, False])
def test_a_run_opens_its_page_on_a_desktop_as_the_user(opened, monkeypatch, is_root):
    monkeypatch.setattr(os, "geteuid", lambda: 0 if is_root else 1000)
    # A browser's registration is made at its first use.
    monkeypatch.setattr(webbrowser, "_tryorder", None)
    desktop.show("http://127.0.0.1:1/#token")
    wait.until(lambda: opened.exists() and "http" in opened.read_text(), "a page", 120)
    said = opened.read_text().splitlines()
    assert said == [*(["as ada"] if is_root else []), "http://127.0.0.1:1/#token"]
    # Without a desktop nothing happens.
    monkeypatch.delenv("DISPLAY")
    desktop.show("http://127.0.0.1:1/#other")
    assert "other" not in opened.read_text()


def test_no_argument_of_a_browser_has_the_token_of_a_page(opened, tmp_path, monkeypatch):
    monkeypatch.setenv("VITRINE_RESULTS", str(tmp_path / "out"))
    told = io.StringIO()
    with beside.served(told, opens=True):
        wait.until(lambda: opened.exists() and "file:" in opened.read_text(), "a page", 120)
        address = told.getvalue().split()[-1]
        (named,) = re.findall(r"file://(\S+)$", opened.read_text())
        file = Path(named)
        assert file.parent == tmp_path / "out"
        assert file.stat().st_mode & 0o777 == 0o600
        assert f'content="0; url={address}"' in file.read_text()
    assert address.partition("#")[2] not in opened.read_text()
    wait.until(lambda: not file.exists(), "the end of the file that leads to the page", 120)


@needs_browser
def test_the_file_leads_to_the_page(chromium, tmp_path, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    shown = []
    monkeypatch.setattr(desktop, "show", shown.append)
    told = io.StringIO()
    folder = tmp_path / "with space & <ü>"
    with (
        beside.served(told),
        page_of(chromium) as page,
        desktop.shown(told.getvalue().split()[-1], folder),
    ):
        page.goto(shown[0])
        expect(page.get_by_role("heading")).to_have_text("No network is up")


def test_make_run_asks_for_it():
    commands = subprocess.run(
        ["make", "--dry-run", "run"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "vm/vitrine make run --open" in commands


def _serve(output):
    with beside.served(output):
        pass


@needs_browser
def test_the_page_goes_from_network_to_network(chromium):
    told = io.StringIO()
    other = {**NETWORK, "routers": [{"name": "r9", "deviceId": 0}], "cables": []}
    with beside.served(told), page_of(chromium) as page:
        page.goto(told.getvalue().split()[-1])
        expect(page.get_by_role("heading")).to_have_text("No network is up")
        with _network("s2", NETWORK):
            expect(page.get_by_role("button", name="s2", exact=True)).to_be_visible()
            expect(page.locator(".labels")).to_contain_text("of 20 packets")
        # Data received before can still be viewed.
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
