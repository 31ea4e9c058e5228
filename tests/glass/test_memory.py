"""A page's memory keeps to its bound, measured as Chromium's heap and not by its estimate."""

import base64

from labs.glass import relay
from tests.glass.browser import needs_browser, page_of, serve_modules

# The page promises 150 MB for all of it, and takes about 30 MB of these itself.
REMEMBERED_BYTES_MAX = 120e6
# Events a router tells: twice as many as fit.
EVENTS = 160_000


def heap_bytes(page):
    """The page's heap behind a collection."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")
    session.detach()
    return used["usedSize"] + used.get("backingStorageSize", 0)


@needs_browser
def test_what_is_remembered_takes_no_more_of_the_heap_than_it_may(chromium):
    with page_of(chromium) as page:
        serve_modules(page)
        schema = base64.b64encode(relay.schema()).decode()
        fill = "async ([s, n]) => (await import('/tests/glass/memory.js')).fill(s, n)"
        page.evaluate(fill, [schema, 0])
        before = heap_bytes(page)
        told = page.evaluate(fill, [schema, EVENTS])
        grown = heap_bytes(page) - before
    estimated = sum(told["packets"] + told["curves"] + told["samples"]) + told["hosts"]
    assert grown < REMEMBERED_BYTES_MAX
    assert sum(told["steps"]) < 2 * EVENTS
    # An estimate that is far off bounds nothing.
    assert 0.6 < estimated / grown < 1.7
