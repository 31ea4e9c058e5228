"""The program of a router that is gone: its source, what ran, its tables as they were."""

import itertools
import subprocess

import pytest
from playwright.sync_api import expect

from controller import routers
from controller.world import PS_PER_S, World
from labs.glass import tape, virtual
from labs.hol_blocking.lab import CONGESTED
from labs.worlds.virtual.server import BINARY
from tests.glass.browser import needs_browser, page_of

pytestmark = pytest.mark.skipif(
    not BINARY.exists() or subprocess.run([BINARY, "serve", "--help"]).returncode != 0,
    reason=f"{BINARY} has no `serve`: run make build",
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A tenth of a second of the first lesson's network."""
    with virtual.showing(virtual.FIRST, tmp_path_factory.mktemp("logs")) as scene:
        addresses = {each.name: f"{each.address}/{each.device_id}" for each in scene.routers}
        up = routers.Up(addresses, router="s2", port=CONGESTED, network=scene.network)
        told = tape.Tape("a test")
        with World.connect(scene.world_address) as world:
            # The span that a page would watch before it shows the network.
            world.advance(virtual.WATCHED_PS)
            with tape.listening(told, up):
                world.advance(round(0.1 * PS_PER_S))
    return told


def test_a_tape_has_each_routers_program_its_sources_and_tables_as_they_were_in_the_end(recorded):
    found = list(tape.read(recorded.data()))
    for router in range(2):
        mine = [kind for kind, of, _ in found if of == router]
        assert {tape.PROGRAM, tape.SOURCES, tape.ENTRIES, tape.TRACE} <= set(mine)
    *_, last = [message for kind, _, message in found if kind == tape.ENTRIES]
    # The lesson begins at 2 s.
    assert int.from_bytes(last[:8]) == round(2.1 * PS_PER_S)


def test_of_many_readings_of_tables_some_stay_and_the_last_one_does():
    told = tape.Tape()
    for number in range(500):
        told.take_reading(tape.Entry(tape.ENTRIES, 0, b"", number))
    times = [each.time_ps for each in told.readings[0]]
    assert len(times) <= tape.READINGS_MAX
    assert times[0] == 0 and times[-1] == 499
    # As far from each other as can be, within a factor of about two.
    assert max(b - a for a, b in itertools.pairwise(times)) <= 3 * 500 / tape.READINGS_MAX


@needs_browser
def test_a_recording_shows_its_program_what_ran_and_its_tables(chromium, recorded, tmp_path):
    file = tmp_path / "inside.html"
    recorded.write(file)
    with page_of(chromium, offline=True) as page:
        page.goto(file.as_uri())
        page.keyboard.press("2")
        page.get_by_role("tab", name="Program").click()
        panel = page.get_by_role("tabpanel", name="Program")
        expect(panel).to_contain_text("packets of this run were followed")
        source = panel.get_by_role("region", name="Source of programs/router.p4")
        # The whole file, as it was on the disk; what ran is counted.
        expect(source).to_contain_text("control ingress(")
        expect(panel.locator(".code .ran").first).to_be_attached()
        assert page.get_by_role("button", name="Follow 50 packets").count() == 0

        page.get_by_role("button", name="Tables", exact=True).click()
        expect(panel).to_contain_text("As of 2.")
        routes = panel.locator("details[data-table=ipv4_routes]")
        routes.locator("summary").click()
        expect(routes.get_by_role("row", name="10.0.4.1/32")).to_contain_text(
            "set_next_hop(port = 2"
        )
        # Nothing can be changed in what is past.
        assert routes.get_by_role("button").count() == 0

        page.evaluate("vitrine.player.pause()")
        known = "[...vitrine.side.packet.known.keys()].find((each) => each.startsWith('s2 '))"
        page.evaluate(
            f"""() => {{
              const {{ insides }} = vitrine.model;
              const id = Number(({known}).slice(3));
              vitrine.side.showPacket(insides.steps.find((each) => each.id === id).packet);
            }}"""
        )
        life = page.get_by_role("tabpanel", name="Packet")
        expect(life).to_contain_text("Through the program")
        expect(life).to_contain_text("parse_ipv4")
        # Into a router of another kind, which has no queues at its inputs.
        page.keyboard.press("1")
        expect(page.locator(".labels")).to_contain_text("fabric without limit")
