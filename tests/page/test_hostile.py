"""Hostile scenarios from a shared address: the page reports the problem and stays responsive."""

import base64
import json
import zlib

import pytest
from playwright.sync_api import expect
from vitrine.v1 import world_pb2

from tests.glass.browser import needs_browser
from tests.page.conftest import needs_module
from tests.page.test_alone import opened, replace, runs, said, scenarios

pytestmark = [needs_browser, needs_module]
START = "/vitrine.v1.World/Start"
ROUTES = "    table ipv4_routes {"
ENDLESS = """state start {
        transition select(standard_metadata.instance_type) { 77: never; default: round; }
    }
    state round { transition round; }
    state never {"""
REGISTERS = f"""    register<bit<64>>(200000000) everything;
    action keep() {{ everything.write(0, 1); }}
{ROUTES}"""
MACROS = "\n".join(
    f"#define {name} " + f"{inner} " * 8 for name, inner in zip("ABCDEFGH", "xABCDEFG", strict=True)
)
# By what is wrong with it: a text, what of it is changed, and what the page says.
PROGRAMS = {
    "a parser that never ends": ("lib/parsers.p4", "state start {", ENDLESS, "The program runs."),
    "a table without end": (
        "control/routing.p4",
        "size = ",
        "size = 4294967295; // ",
        "the tables of a program take at most 4096 MiB together",
    ),
    # Declared is not filled: what a table takes is what its entries take.
    "a table of ten million entries": (
        "control/routing.p4",
        "size = ",
        "size = 10000000; // ",
        "The program runs.",
    ),
    "registers without end": (
        "control/routing.p4",
        ROUTES,
        REGISTERS,
        "take at most 512 MiB together",
    ),
    "macros without end": (
        "control/routing.p4",
        ROUTES,
        f"{MACROS}\nH\n{ROUTES}",
        "nothing runs before it is mended",
    ),
}


def address_of(files, acts=()):
    """The page's address for head-of-line blocking with these changes."""
    value = {"vitrine": 1, "base": "hol-blocking", "files": files, "acts": list(acts)}
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(json.dumps(value).encode()) + packer.flush()
    return "#s=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def answers(page):
    """The page obeys: another scenario begins."""
    scenarios(page).click()
    page.get_by_role("button", name="One flow, one slow line").click()
    page.wait_for_function("() => window.vitrine?.scene.title === 'One flow, one slow line'")
    runs(page)


# One that runs and one that is refused; the others go the same two ways.
ALWAYS = ("a parser that never ends", "registers without end")
EVERY = [
    name if name in ALWAYS else pytest.param(name, marks=pytest.mark.nightly) for name in PROGRAMS
]


@pytest.mark.parametrize("name", EVERY)
def test_a_program_that_wants_everything_is_answered_with_a_sentence(chromium, vitrine, kit, name):
    text, old, new, sentence = PROGRAMS[name]
    # An unused register is left out.
    changed = (
        kit["files"][text].replace("actions = {", "actions = { keep;")
        if "keep" in new
        else kit["files"][text]
    )
    assert old in changed
    with opened(chromium, vitrine + address_of({text: changed.replace(old, new, 1)})) as page:
        page.get_by_role("button", name="Run it").click()
        expect(said(page)).to_contain_text(sentence)
        answers(page)


def test_what_has_stopped_begins_again_when_it_is_mended(chromium, vitrine, kit):
    text = "control/routing.p4"
    hostile = kit["files"][text].replace("size = ", "size = 4294967295; // ", 1)
    with opened(chromium, vitrine + address_of({text: hostile})) as page:
        page.get_by_role("button", name="Run it").click()
        expect(page.locator(".sheet")).to_contain_text("The network cannot begin.")
        page.get_by_label("Text", exact=True).select_option(text)
        replace(page, "size = 4294967295; // ", "size = ")
        runs(page)
        expect(said(page)).to_have_text("The program runs.")


def test_a_million_packets_do_not_hold_up_the_page(chromium, vitrine):
    source = world_pb2.StartRequest(host="h3")
    app = source.app.datagram_source
    app.to.host, app.to.port, app.payload_bytes = "h5", 9, 24
    app.bursts.rate_bps, app.bursts.datagrams = 100_000_000, 1_000_000
    act = [10**12, START, base64.b64encode(source.SerializeToString()).decode()]
    with opened(chromium, vitrine + address_of({}, [act])) as page:
        page.get_by_role("button", name="Run it").click()
        runs(page)
        page.evaluate("vitrine.player.setPace(1)")
        answers(page)


def test_a_network_that_is_silent_is_ended(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        # The next worker never comes back from its job.
        page.evaluate(
            """() => {
              const work = "const wait = engine.work(";
              if (!vitrineAlone.engineText.includes(work)) throw new Error("no such line");
              const { engineText } = vitrineAlone;
              window.engineBefore = engineText;
              vitrineAlone.engineText = engineText.replace(work, `for (;;); ${work}`);
            }"""
        )
        page.get_by_role("button", name="Again").click()
        expect(page.locator(".sheet")).to_contain_text("did not come to an end within 10 seconds")
        page.evaluate("() => { vitrineAlone.engineText = window.engineBefore; }")
        answers(page)
