"""The page and the bench that looks as it does give single packets up, and try again, alike."""

import json
import re
from pathlib import Path

import pytest
from google.protobuf import json_format

from controller.toolchain import ROOT
from tests.bench import watcher
from tests.bench.patience import Patience
from tests.glass.browser import needs_browser, page_of, serve_modules

STORIES = json.loads(Path(__file__).with_name("patience.json").read_text())
# The decisions of the page's own rule on a story, step by step.
PLAY = """
async ({ isLive, steps }) => {
  const { Patience } = await import("/glass/js/model/patience.js");
  const patience = new Patience({ isLive });
  return steps.map(({ atMs, does, with: told }) => {
    const anew = does === "begins" ? patience.begins() : patience[does](atMs, ...told);
    return [anew ?? null, !patience.withoutPackets];
  });
}
"""


# The page's request to a live router, with single packets and without them.
ASK = """
async (known) => {
  const { Watching, detailAt } = await import("/glass/js/page/watching.js");
  const { Patience } = await import("/glass/js/model/patience.js");
  const byName = new Map(known.map((each) => [each, {}]));
  const watching = Object.assign(Object.create(Watching.prototype), {
    calls: { schema: { message: () => ({ byName }) } }, model: { ports: 3 }, intervalMs: SAMPLE_MS,
    detail: detailAt(1), isLive: true, mayLose: true, patience: new Patience({ isLive: true }) });
  const asked = [watching.request()];
  watching.patience.refused(0);
  return [...asked, watching.request()];
}
"""


def wanted(story):
    return [[step.get("anew"), step["packets"]] for step in story["steps"]]


def played(patience, step):
    at_ms, told = step["atMs"], step["with"]
    match step["does"]:
        case "begins":
            return patience.begins()
        case "told":
            return patience.told(at_ms, told[0], has_lost=told[1])
        case "sends":
            return patience.sends(at_ms, told[0])
        case "refused":
            return patience.refused(at_ms)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story["name"])
def test_the_bench_tells_the_story(story):
    patience = Patience(is_live=story["isLive"])
    found = []
    for step in story["steps"]:
        anew = played(patience, step)
        found.append([anew, not patience.without_packets])
    assert found == wanted(story)


@needs_browser
def test_the_page_tells_all_of_them(chromium):
    with page_of(chromium) as page:
        serve_modules(page)
        assert {s["name"]: page.evaluate(PLAY, s) for s in STORIES} == {
            s["name"]: wanted(s) for s in STORIES
        }


@needs_browser
def test_they_ask_a_live_router_for_the_same(chromium):
    known = [field.name for field in watcher.asked(tells_packets=True).DESCRIPTOR.fields]
    # How often the page looks is the glass's.
    glass = (ROOT / "glass/js/page/glass.js").read_text()
    interval_ms = re.search(r"^const SAMPLE_MS = (\d+);$", glass, re.MULTILINE)[1]
    with page_of(chromium) as page:
        serve_modules(page)
        by_page = page.evaluate(ASK.replace("SAMPLE_MS", interval_ms), known)
    set_by_page = [
        {name: value for name, value in each.items() if value not in (None, False)}
        for each in by_page
    ]
    for each in set_by_page:
        each.pop("device_id", None)
    assert set_by_page == [
        json_format.MessageToDict(
            watcher.asked(tells_packets=each), preserving_proto_field_name=True
        )
        for each in (True, False)
    ]
