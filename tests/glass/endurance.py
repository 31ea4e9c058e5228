"""The page before a live router that never stops telling, by a clock that is wound forward.

Every timer fires and every picture is drawn as in so many minutes of an afternoon, and every
message is encoded and decoded; only the waiting in between is left out. Read once a minute, behind
a collection of what nobody uses any more: the page's heap and how many nodes it has.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from playwright.sync_api import Page

from labs.glass import relay
from tests.glass.browser import browser, page_of, serve_modules

# The page remembers half a minute: all that it holds, it holds after the second one.
SETTLED_MINUTES = 2
# The allowed growth of the heap from there on, as a part of itself.
GROWTH_MAX = 0.1
_CHUNK_MS = 5_000
_MINUTE_MS = 60_000
_PAGE = """
(schema) => {
  const look = Object.assign(document.createElement("link"), { rel: "stylesheet" });
  look.href = "/glass/style.css";
  const page = Object.assign(document.createElement("div"), { id: "page" });
  document.head.append(look);
  document.body.replaceChildren(page);
  const styled = new Promise((done) => (look.onload = done));
  const begun = import("/tests/glass/endurance.js");
  return Promise.all([styled, begun]).then(([, { begin }]) => begin(schema));
}
"""


@dataclass(frozen=True)
class Reading:
    """The memory of a page."""

    minute: int
    heap_bytes: int
    nodes: int
    # Steps of packets, and flows, that are remembered.
    steps: int
    flows: int


def told(minutes: int) -> tuple[dict[str, Any], int]:
    """Prints each reading; what was read, and the exit status, which is 1 if the memory grows."""
    found = []
    for reading in readings(minutes):
        found.append(reading)
        print(
            f"minute {reading.minute}: heap {reading.heap_bytes / 1e6:.1f} MB, {reading.nodes} "
            f"nodes, {reading.steps} steps and {reading.flows} flows remembered",
            flush=True,
        )
    settled = found[min(SETTLED_MINUTES, len(found)) - 1].heap_bytes
    grown = found[-1].heap_bytes / settled - 1
    print(f"From minute {SETTLED_MINUTES} on the heap has grown by {100 * grown:.1f} %.")
    readings_told = [asdict(each) for each in found]
    return {"readings": readings_told, "grown": grown}, int(grown > GROWTH_MAX)


def readings(minutes: int) -> Iterator[Reading]:
    """One a minute of the page's."""
    with browser() as chromium, page_of(chromium, viewport={"width": 1600, "height": 1000}) as page:
        page.clock.install(time=0)
        serve_modules(page)
        page.evaluate(_PAGE, base64.b64encode(relay.schema()).decode())
        for minute in range(1, minutes + 1):
            for _ in range(_MINUTE_MS // _CHUNK_MS):
                page.clock.run_for(_CHUNK_MS)
            yield reading(page, minute)


def reading(page: Page, minute: int) -> Reading:
    """The memory of the page now."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    heap_bytes = int(session.send("Runtime.getHeapUsage")["usedSize"])
    nodes = int(session.send("Memory.getDOMCounters")["nodes"])
    session.detach()
    steps = page.evaluate("vitrine.model.insides.steps.length")
    flows = page.evaluate("vitrine.flows.byKey.size / 2")
    return Reading(minute, heap_bytes, nodes, steps, int(flows))
