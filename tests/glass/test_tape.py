"""A run that is recorded plays from a disk, without any server."""

import json

import pytest
from playwright.sync_api import expect

from labs import routers
from labs.glass import onefile, tape
from tests.controller import device_double
from tests.glass.browser import DEADLINE_MS, browser, needs_browser, page_of
from tests.glass.router_double import RouterDouble
from tests.glass.serving import NETWORK
from topo import wait


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A tape of the double, of half a second at least."""
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    double = RouterDouble(5.0)
    with (
        device_double.serving(double, double.handler) as address,
        tape.rolling("a test") as rolling,
        routers.announced({"s2": address}, NETWORK),
    ):
        wait.until(lambda: rolling.bytes_held > 60_000, "messages on the tape", 30)
    return rolling


def test_a_tape_has_everything_that_was_told_and_an_index(recorded):
    kinds = [kind for kind, _, _ in tape.read(recorded.data())]
    assert kinds[:2] == [tape.SCENE, tape.SCHEMA]
    assert kinds[-1] == tape.INDEX
    assert {tape.DESCRIBE, tape.SAMPLES, tape.PACKETS} <= set(kinds)
    *_, (_, _, last) = tape.read(recorded.data())
    data = recorded.data()
    for at in json.loads(last).values():
        # Each place of the index is the beginning of a message.
        assert tape.HEAD.unpack_from(data, at)[0] in (tape.DESCRIBE, tape.SAMPLES, tape.PACKETS)


def test_a_tape_of_nothing_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    with tape.rolling() as rolling:
        pass
    assert rolling.is_empty


def test_a_page_names_nothing_outside_of_itself():
    text = onefile.page(b"")
    assert "src=" not in text.partition("<style>")[0]
    assert 'href="http' not in text
    assert len(text) < 3_000_000


@needs_browser
def test_a_recording_plays_from_a_disk(recorded, tmp_path):
    file = tmp_path / "inside.html"
    recorded.write(file)
    with browser() as chromium, page_of(chromium, offline=True) as page:
        page.goto(file.as_uri())
        expect.set_options(timeout=DEADLINE_MS)
        expect(page.get_by_text("a recording")).to_be_visible()
        # It has played to its end, where packets were told no more.
        page.keyboard.press("Space")
        page.evaluate("vitrine.player.setPace(0.001)")
        middle = "(vitrine.player.startPs + vitrine.model.packetsUntilPs) / 2"
        page.evaluate(f"vitrine.player.seek({middle})")
        expect(page.locator(".notice")).to_contain_text("Head-of-line blocking")
        assert page.get_by_role("tab", name="Handles").count() == 0
        expect(page.locator(".labels")).to_contain_text("of 20 packets")
