"""A scenario as one file and as a packet of files: saved, read, changed and opened again."""

import io
import json
import zipfile

import pytest
from playwright.sync_api import expect

from tests.glass.browser import loop_of, needs_browser
from tests.page.conftest import needs_module
from tests.page.test_alone import opened, replace, runs, said

pytestmark = [needs_browser, needs_module]
BASIC = "#open=basic-forwarding"
MINE = "standard_metadata.egress_spec = port; // mine"


def saved(page, how):
    """The bytes that the page hands out."""
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as found:
        page.get_by_role("button", name=how).click()
    page.get_by_role("button", name="Close").click()
    return found.value.path().read_bytes()


def handed(page, name, content):
    """Opens a file that came by mail."""
    page.get_by_label("A scenario's file").set_input_files(
        {"name": name, "mimeType": "", "buffer": content}
    )


@pytest.fixture(scope="module")
def files(only_chromium, vitrine):
    """A scenario with a changed text and a cut cable, both ways: {name: bytes}."""
    with loop_of(only_chromium), opened(only_chromium, vitrine + BASIC) as page:
        runs(page)
        replace(page, "standard_metadata.egress_spec = port;", MINE)
        expect(said(page)).to_have_text("The new program runs.")
        page.evaluate("vitrine.world.call('Fault', { cut: { node: 'h1' } })")
        return {
            "mine.zip": saved(page, "Save as a packet of files"),
            "mine.json": saved(page, "Save as a file"),
        }


def test_what_was_changed_and_done_survives_loading_the_page_again(chromium, vitrine):
    with opened(chromium, vitrine + BASIC) as page:
        runs(page)
        replace(page, "standard_metadata.egress_spec = port;", MINE)
        expect(said(page)).to_have_text("The new program runs.")
        page.evaluate("vitrine.world.call('Fault', { cut: { node: 'h1' } })")
        page.reload()
        runs(page)
        expect(page.locator(".editor")).to_contain_text("// mine")
        assert cut(page) == [True, False, False, False]
        page.evaluate("() => { window.before = vitrine; }")
        page.get_by_role("button", name="Again").click()
        # However soon it is there.
        page.wait_for_function("() => window.vitrine && window.vitrine !== window.before")
        runs(page)
        expect(page.locator(".editor")).to_contain_text("// mine")
        assert cut(page) == [False] * 4


def cut(page):
    """Of each cable whether it is."""
    return page.evaluate(
        "vitrine.world.call('Look', { topology: true })"
        ".then((told) => told.cables.map((each) => each.cut))"
    )


@pytest.mark.parametrize("name", ["mine.zip", "mine.json"])
def test_what_was_saved_is_there_again(name, files, chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        handed(page, name, files[name])
        sheet = page.locator(".sheet")
        expect(sheet).to_contain_text('"Basic forwarding", with one changed text and 1 things done')
        assert page.evaluate("window.vitrine") is None
        sheet.get_by_role("button", name="Run it").click()
        runs(page)
        expect(page.locator(".editor")).to_contain_text("// mine")
        assert cut(page) == [True, False, False, False]


def test_a_packet_of_files_is_read_and_changed_by_hand(files, chromium, vitrine):
    with zipfile.ZipFile(io.BytesIO(files["mine.zip"])) as packet:
        texts = {name: packet.read(name) for name in packet.namelist()}
    assert MINE in texts["texts/classics/basic.p4"].decode()
    assert "texts/lib/parsers.p4" in texts
    assert [each["request"] for each in json.loads(texts["script.json"])] == [
        {"cut": {"node": "h1"}}
    ]
    setup = json.loads(texts["setup.json"])
    for each in setup:
        for port in each["request"].get("ports", []):
            if each["request"]["device_id"] == 1 and port["port"] == 3:
                port["config"]["rate_bps"] = 7_000_000
    told = json.loads(texts["scenario.json"])
    told["title"] = "Seven"
    changed = {
        **texts,
        "setup.json": json.dumps(setup).encode(),
        "scenario.json": json.dumps(told).encode(),
        "script.json": b"[]",
    }
    with opened(chromium, vitrine) as page:
        runs(page)
        handed(page, "mine.zip", zipped(changed))
        sheet = page.locator(".sheet")
        expect(sheet).to_contain_text('"Seven", with a network of its own, one changed text')
        sheet.get_by_role("button", name="Run it").click()
        runs(page)
        assert rate(page) == 7_000_000
        # It is shared as any other.
        page.get_by_role("button", name="Share").click()
        address = page.get_by_label("Address").input_value()
    with opened(chromium, address) as page:
        page.get_by_role("button", name="Run it").click()
        runs(page)
        assert rate(page) == 7_000_000


def rate(page):
    """Of port 3 of s1."""
    return page.evaluate(
        """async () => {
          const asked = ["s1", "vitrine.v1.Router", "Describe", { device_id: 1, ports: [3] }];
          const { ports } = await vitrine.calls.call(...asked);
          return ports[0].config.rate_bps;
        }"""
    )


def zipped(texts):
    packet = io.BytesIO()
    with zipfile.ZipFile(packet, "w") as written:
        for name, content in texts.items():
            written.writestr(name, content)
    return packet.getvalue()


BROKEN = {
    "no JSON": ("topology.json", b"{", "topology.json: "),
    "no field": ("topology.json", b'{"topologie": {}}', "topologie: there is no such field"),
    "no method": ("setup.json", b'[{"method": "/a/B", "request": {}}]', "no method that is known"),
    "no list": ("script.json", b"{}", "script.json: a list is expected"),
    "reading": (
        "script.json",
        b'[{"at_ps": 1, "method": "/vitrine.v1.World/Look", "request": {}}]',
        "damaged",
    ),
    "no router": (
        "topology.json",
        b'{"topology": {"hosts": [{"name": "h1"}]}, "seed": 1}',
        "each router of its network needs a program",
    ),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_packet_that_is_none_is_answered_with_a_sentence(broken, files, chromium, vitrine):
    name, content, wanted = BROKEN[broken]
    with zipfile.ZipFile(io.BytesIO(files["mine.zip"])) as packet:
        texts = {each: packet.read(each) for each in packet.namelist()}
    with opened(chromium, vitrine) as page:
        runs(page)
        handed(page, "mine.zip", zipped({**texts, name: content}))
        expect(page.locator(".sheet")).to_contain_text(wanted)
