"""The modules that need no page: each file of tests runs in Chromium, without a server."""

from pathlib import Path

import pytest

from tests.glass.browser import needs_browser, page_of, serve_modules

FILES = sorted(Path(__file__).parent.glob("*_test.js"))


@needs_browser
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_modules_do_what_they_say(chromium, file):
    with page_of(chromium) as page:
        serve_modules(page)
        ran = page.evaluate(
            "async (file) => (await import('/tests/glass/check.js')).run(file)",
            f"/tests/glass/{file.name}",
        )
    assert ran["failed"] == []
    assert ran["count"] > 0
