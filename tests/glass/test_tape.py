"""A run that is recorded plays from a disk, without any server."""

import base64
import gzip
import json
import socket
import threading

import pytest
from playwright.sync_api import expect
from vitrine.v1 import router_pb2

from controller import routers
from labs.glass import onefile, tape
from tests.controller import device_double
from tests.glass.browser import needs_browser, page_of, serve_modules
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
        wait.until(lambda: rolling.bytes_held > 60_000, "messages on the tape", 120)
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


def test_a_tape_full_of_packets_takes_no_more_of_them(tmp_path, monkeypatch):
    """A world waits for its watchers: a stream without a reader would block it."""
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    monkeypatch.setattr(tape, "PACKETS_BYTES_MAX", 10_000)
    double = RouterDouble()
    with (
        device_double.serving(double, double.handler) as address,
        tape.rolling() as rolling,
        routers.announced({"s2": address}, NETWORK),
    ):
        wait.until(lambda: rolling.bytes_held > 20_000, "messages on the tape", 120)
        wait.until(lambda: double.watching_packets == 0, "the end of the packets' stream", 120)
        held = rolling.bytes_held
        wait.until(lambda: rolling.bytes_held > held, "samples that go on", 120)


def test_a_router_that_never_answers_does_not_hold_up_the_end(tmp_path, monkeypatch):
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with tape.rolling() as rolling, routers.announced({"s2": address}, NETWORK):
            wait.until(lambda: rolling.up.routers, "that the tape has seen the network", 120)
    assert rolling.is_empty
    assert not [each for each in threading.enumerate() if each.name == "tape"]


def description(time_ps, departed, rate_bps):
    answer = router_pb2.DescribeResponse(time_ps=time_ps)
    answer.buffer.SetInParent()
    port = answer.ports.add(port=2)
    port.config.rate_bps = rate_bps
    port.counters.counters.departed.packets = departed
    return answer.SerializeToString()


def test_what_was_counted_is_no_change_of_the_configuration_and_what_was_set_is():
    time_ps, settings = tape.told(description(7, 0, 10))
    assert time_ps == 7
    assert tape.told(description(8, 500, 10)) == (8, settings)
    assert tape.told(description(8, 500, 20))[1] != settings


def test_a_page_names_nothing_outside_of_itself():
    text = onefile.page(b"")
    assert "src=" not in text.partition("<style>")[0]
    assert 'href="http' not in text
    assert len(text) < 3_000_000


@needs_browser
def test_a_recording_plays_from_a_disk(chromium, recorded, tmp_path):
    file = tmp_path / "inside.html"
    recorded.write(file)
    with page_of(chromium, offline=True) as page:
        page.goto(file.as_uri())
        expect(page.get_by_text("a recording")).to_be_visible()
        # It has played to its end, which has no single packets any more.
        page.keyboard.press("Space")
        page.evaluate("vitrine.player.setPace(0.001)")
        middle = "(vitrine.player.startPs + vitrine.model.packetsUntilPs) / 2"
        page.evaluate(f"vitrine.player.seek({middle})")
        expect(page.locator(".notice")).to_contain_text("Head-of-line blocking")
        assert page.get_by_role("tab", name="Handles").count() == 0
        # Handouts are on the server, and there is none.
        assert page.get_by_role("tab", name="Handout").count() == 0
        expect(page.locator(".labels")).to_contain_text("of 20 packets")


@needs_browser
def test_an_address_names_the_instant_at_which_a_recording_stands(chromium, recorded, tmp_path):
    file = tmp_path / "inside.html"
    recorded.write(file)
    with page_of(chromium, offline=True) as page:
        page.goto(file.as_uri())
        page.wait_for_function("window.vitrine?.player.toldPs > 0")
        span = page.evaluate("[vitrine.player.startPs, vitrine.player.toldPs]")
        middle_ps = sum(span) // 2
        page.goto("about:blank")
        page.goto(f"{file.as_uri()}#at={middle_ps / 1e12:.6f}")
        page.wait_for_function("window.vitrine && !vitrine.player.isPlaying")
        assert abs(page.evaluate("vitrine.player.timePs") - middle_ps) < 1e6
        # Beyond the end is the end.
        page.evaluate("location.hash = '#at=99'")
        page.wait_for_function("vitrine.player.timePs === vitrine.player.toldPs")


def repacked(data, change):
    """A tape whose entries were changed: `change` gets (kind, router, message) of all."""
    return b"".join(
        tape.HEAD.pack(kind, router, len(message)) + message
        for kind, router, message in change(list(tape.read(data)))
    )


DAMAGED = {
    "cut off": lambda data: data[: len(data) // 2],
    "without a scene": lambda data: repacked(data, lambda all: all[1:]),
    "with a scene of another form": lambda data: repacked(
        data, lambda all: [(tape.SCENE, 0, b"[1]"), *all[1:]]
    ),
    "of tables of a router that there is not": lambda data: repacked(
        data, lambda all: [*all, (tape.ENTRIES, 200, bytes(8))]
    ),
    "no recording": lambda data: bytes(5000),
}


@needs_browser
def test_a_damaged_recording_is_refused_in_a_sentence(chromium, recorded, tmp_path):
    for name, damage in DAMAGED.items():
        file = tmp_path / "inside.html"
        file.write_text(onefile.page(damage(recorded.data())))
        with page_of(chromium, offline=True) as page:
            page.goto(file.as_uri())
            expect(page.locator("h1"), name).to_have_text("This recording cannot be read")


# Reads a tape as the page does, with some bytes changed: [seeds that were read, seeds refused].
_CHANGED = """async ([packed, seeds]) => {
    const { dice } = await import("/tests/glass/check.js");
    const { entries, unpack } = await import("/glass/js/wire/tape.js");
    const { decode } = await import("/glass/js/wire/message.js");
    const { readSchema } = await import("/glass/js/wire/schema.js");
    const { RecordedWay } = await import("/glass/js/wire/recorded_way.js");
    const whole = await unpack(packed);
    const types = {
      describe: "DescribeResponse", samples: "WatchResponse",
      packets: "WatchResponse", trace: "TraceResponse",
    };
    let read = 0, refused = 0;
    for (let seed = 0; seed < seeds; seed++) {
      const roll = dice(seed), bytes = whole.slice(0, roll(4) ? whole.length : roll(whole.length));
      for (let left = roll(20); left > 0; left--) {
        bytes[roll(roll(2) ? 4000 : bytes.length)] = roll(2) ? roll(256) : 255;
      }
      try {
        const list = [...entries(bytes)];
        const schema = readSchema(list.find((each) => each.kind === "schema").message);
        new RecordedWay(list, ["s2"], schema);
        for (const { kind, message } of list) {
          if (types[kind]) decode(schema.message(`vitrine.v1.${types[kind]}`), message);
        }
        read++;
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        refused++;
      }
    }
    return [read, refused];
}"""


@needs_browser
def test_a_recording_with_changed_bytes_is_read_or_refused(chromium, recorded):
    packed = base64.b64encode(gzip.compress(recorded.data())).decode()
    with page_of(chromium) as page:
        serve_modules(page)
        read, refused = page.evaluate(_CHANGED, [packed, 200])
    assert read > 0 and refused > 0 and read + refused == 200
