"""A page in Debian's Chromium, for tests; without Chromium they are left out."""

import contextlib
import os
import shutil

import pytest

from controller.toolchain import ROOT

CHROMIUM = shutil.which("chromium")
needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium: vm/browser.sh installs it"
)
# Longer than anything takes; a test that waits for it has failed.
DEADLINE_MS = 60_000


@contextlib.contextmanager
def browser():
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    # Its sandbox does not work for root, and the pages are the kit's own.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        try:
            yield chromium
        finally:
            chromium.close()


@contextlib.contextmanager
def page_of(chromium, **options):
    """A page that must not complain: what it throws fails the test."""
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
