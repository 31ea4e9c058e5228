"""A page in Debian's Chromium, for tests; without Chromium they are left out.

Tests take the fixture `chromium` of tests/conftest.py: one browser for all tests of a process.
Each test opens its pages in contexts of its own (`page_of`), so nothing stays from one to the next.
"""

import asyncio
import contextlib
import os
import shutil
import time
import types
from pathlib import Path

import pytest

from controller.toolchain import ROOT
from tests import budget
from topo import wait

CHROMIUM = shutil.which("chromium")
needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium: vm/browser.sh installs it"
)
# Longer than anything takes where a dozen other programs want the processors; a test that waits
# for it has failed.
DEADLINE_S = 120 * wait.patience()
DEADLINE_MS = 1000 * DEADLINE_S


@contextlib.contextmanager
def browser():
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    # Its sandbox does not work for root, and the pages are the kit's own.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        budget.count("browsers")
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        try:
            yield chromium
        finally:
            chromium.close()


@contextlib.contextmanager
def loop_of(chromium):
    """Lets Playwright's event loop be this thread's one, which it is only while a test uses it.

    Playwright's loop runs from launch to close, and `asyncio.run` refuses a thread that has one.
    """
    asyncio._set_running_loop(chromium._loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(None)


@contextlib.contextmanager
def page_of(chromium, **options):
    """A page that must not complain: what it throws fails the test."""
    from playwright.sync_api import expect

    expect.set_options(timeout=DEADLINE_MS)
    context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
    context.set_default_timeout(DEADLINE_MS)
    page = context.new_page()
    thrown = []
    page.on("pageerror", lambda error: thrown.append(str(error)))
    page.on("console", lambda said: thrown.append(said.text) if said.type == "error" else None)
    try:
        yield page
    finally:
        context.close()
    assert thrown == []


@contextlib.contextmanager
def timed():
    """A duration in seconds: `timed() as span`, and `span.s` after it.

    A machine that does other things lets a browser wait; then what its processes have computed
    counts, which is what a person waits for who has the machine to himself.
    """
    span = types.SimpleNamespace(s=0.0)
    began, computed = time.perf_counter(), _computed_s()
    yield span
    span.s = min(time.perf_counter() - began, _computed_s() - computed)


def _computed_s():
    """The processor time of this process's browsers."""
    parents, spent = {}, {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # Behind the name, which may have blanks in it.
            told = (process / "stat").read_text().rpartition(")")[2].split()
            parents[int(process.name)] = int(told[1])
            spent[int(process.name)] = int(told[11]) + int(told[12])
    own = os.getpid()

    def is_own(pid):
        while pid in parents and pid != own:
            pid = parents[pid]
        return pid == own

    ticks = sum(spent[pid] for pid in spent if pid != own and is_own(pid))
    return ticks / os.sysconf("SC_CLK_TCK")


def tab_to(page, name, key="Tab"):
    """Tab until what has the focus has this text."""
    found = "undefined"
    for _ in range(80):
        found = page.evaluate("document.activeElement.textContent")
        if found == name:
            return
        page.keyboard.press(key)
    raise AssertionError(f"{name} is not reached by {key}; the focus is at {found!r}")


_KINDS = {".js": "text/javascript", ".html": "text/html", ".css": "text/css"}


def serve_modules(page):
    """Lets a page import the glass's modules and those of the tests, without a server."""

    def answer(route):
        file = ROOT / route.request.url.removeprefix("http://modules.test/").partition("?")[0]
        if file.is_file():
            route.fulfill(body=file.read_bytes(), content_type=_KINDS.get(file.suffix, ""))
        elif route.request.url.endswith("/blank"):
            route.fulfill(body="<!doctype html><title>tests</title>", content_type="text/html")
        else:
            route.abort()

    page.route("http://modules.test/**", answer)
    page.goto("http://modules.test/blank")
