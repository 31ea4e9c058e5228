"""The one file as a person uses it: from a disk, in Chromium, without a network."""

import contextlib
import gzip
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.glass.browser import needs_browser, page_of, tab_to, timed
from tests.page.conftest import needs_module

pytestmark = [needs_browser, needs_module]
# The page's promises.
SIZE_MAX, CURED_S, EFFECT_S = 3_000_000, 10, 1
BLOCKED = "Head-of-line blocking"
# Whether the program of s2 has dropped something.
DROPS = """async () => {
  const asked = ["s2", "vitrine.v1.Router", "Describe", { device_id: 2 }];
  const { books } = await vitrine.calls.call(...asked);
  const dropped = books.ports.flatMap((port) => port.dropped);
  return dropped.some(({ reason }) => reason === "INGRESS_PROGRAM");
}"""
# Where the router's program decides about a packet; a line of one's own fits behind it.
PLACE = "classify.apply(hdr, meta, standard_metadata);"


@contextlib.contextmanager
def opened(chromium, address, *, desk=True, **options):
    """The page without a network around it, with the program beside the picture or as it opens."""
    with page_of(
        chromium, offline=True, viewport={"width": 1440, "height": 900}, **options
    ) as page:
        page.goto(address)
        if desk:
            page.wait_for_function("() => window.vitrineAlone")
            page.evaluate("vitrineAlone.show('program')")
        yield page


def runs(page):
    """Waits until there is something to see."""
    page.wait_for_function("() => window.vitrine?.player.toldPs > 0")


# The page can be used when its network has settled, and stops at that very instant. Then time
# passes only as far as a test says, so the machine decides nothing.
STANDS = """
let glass;
Object.defineProperty(window, "vitrine", {
  get: () => glass,
  set(value) {
    glass = value;
    if (!glass) return;
    glass.player.pause();
    glass.player.play = () => {};
  },
});
"""


@contextlib.contextmanager
def standing(chromium, address, **options):
    """The page at the very instant at which its network has settled; no button lets it play."""
    with opened(chromium, "about:blank", desk=False, **options) as page:
        page.add_init_script(STANDS)
        page.goto(address)
        runs(page)
        yield page


def replace(page, old, new):
    """Changes the text in the editor, as pasting into it does."""
    page.evaluate(
        """([old, new]) => {
          const { view } = vitrineAlone.desk.editor;
          const from = view.state.doc.toString().indexOf(old);
          if (from < 0) throw new Error(`${old} is not in the text`);
          view.dispatch({ changes: { from, to: from + old.length, insert: new_ } });
        }""".replace("new]", "new_]"),
        [old, new],
    )


def said(page):
    return page.locator(".desk .said")


def scenarios(page):
    """The button in the bar; what the page has to say may bring another one."""
    return page.get_by_role("banner").first.get_by_role("button", name="Scenarios")


def test_the_file_is_small(vitrine):
    page = Path(vitrine.removeprefix("file://")).read_bytes()
    assert len(gzip.compress(page, mtime=0)) <= SIZE_MAX


def test_blocking_is_seen_and_cured_within_ten_seconds_of_opening(chromium, vitrine):
    with timed() as span, opened(chromium, vitrine) as page:
        expect(page.locator(".notice")).to_contain_text(BLOCKED)
        page.get_by_role("button", name="Give every output its own queue").click()
        expect(page.locator(".labels")).to_contain_text("virtual output queues")
        expect(page.locator(".notice")).not_to_contain_text(BLOCKED)
    assert span.s <= CURED_S


def test_an_edit_runs_within_a_second_of_the_last_key(chromium, vitrine):
    took = []
    with opened(chromium, vitrine) as page:
        runs(page)
        for number in range(3):
            swapped = page.evaluate_handle(
                "vitrineAlone.running.compiled.get('programs/router.p4')"
            )
            with timed() as span:
                replace(page, PLACE, f"{PLACE} /* {number} */")
                # The sentence is the same each time: it has to be that of another program.
                page.wait_for_function(
                    """(before) => {
                      const { running, desk } = vitrineAlone, name = "programs/router.p4";
                      return running.compiled.get(name) !== before && !desk.isChanged(name)
                        && desk.said.textContent === "The new program runs.";
                    }""",
                    arg=swapped,
                )
            took.append(span.s)
    assert min(took) <= EFFECT_S, took


def test_time_passes_five_hundred_times_as_fast_and_what_is_left_out_is_said(chromium, vitrine):
    with opened(chromium, f"{vitrine}#open=bottleneck") as page:
        runs(page)
        page.wait_for_function("() => vitrine.model.knowsPackets")
        page.evaluate("vitrine.player.setPace(200)")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Faster (+)").click()
        expect(page.locator(".time")).to_contain_text("× real time")  # noqa: RUF001
        expect(page.locator(".notice")).to_contain_text("too fast for single packets to be told")
        # The packets that the engine had reported before it heard of the pace reach the page within
        # a minute of the network. Ten minutes pass then without one more.
        page.evaluate("window.began = vitrine.player.timePs + 60e12")
        page.wait_for_function("() => vitrine.player.timePs > began")
        last_ps = page.evaluate("vitrine.model.insides.lastPs")
        page.wait_for_function("() => vitrine.player.timePs > began + 600e12")
        assert page.evaluate("vitrine.model.insides.lastPs") <= last_ps
        # A sample each half second, and their curve is drawn.
        assert page.evaluate("vitrine.model.samples.list.length") > 600
        page.evaluate("Object.assign(vitrine.player, { reached: 100 }); vitrine.timeBar.show()")
        expect(page.locator(".time")).to_contain_text("this machine is too slow for 500")
        page.evaluate("vitrine.player.setPace(0.05)")
        page.wait_for_function(
            "() => vitrine.model.knowsPacketsAt(vitrine.player.timePs)"
            " && vitrine.model.insides.at(vitrine.player.timePs).packets.size > 0"
        )
        expect(page.locator(".notice")).not_to_contain_text("too fast for single packets")


def test_an_edit_takes_effect_with_the_entries_that_were_there(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        before = entries(page)
        replace(page, PLACE, f"{PLACE} mark_to_drop(standard_metadata);")
        expect(said(page)).to_have_text("The new program runs.")
        assert "mark_to_drop" in program(page)
        assert entries(page) == before > 0
        page.evaluate("vitrine.player.setPace(1)")
        # The program drops all that it is given, and the router says so.
        page.wait_for_function(DROPS)


def program(page):
    return page.evaluate(
        """async () => {
          const { config } = await vitrine.calls.call("s2", "p4.v1.P4Runtime",
            "GetForwardingPipelineConfig", { device_id: 2, response_type: "ALL" });
          return new TextDecoder().decode(config.p4_device_config);
        }"""
    )


def entries(page):
    """How many s2 has."""
    return page.evaluate(
        """() => new Promise((resolve, reject) => {
          let count = 0;
          const call = vitrine.calls.open("s2", "p4.v1.P4Runtime", "Read",
            { device_id: 2, entities: [{ table_entry: {} }] }, {
              next: ({ entities }) => { count += entities.length; },
              ended: (error) => (error ? reject(error) : resolve(count)),
            });
          call.done();
        })"""
    )


def test_a_mistake_is_underlined_explained_and_leaves_the_old_program_running(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        replace(page, PLACE, "clasify.apply(hdr, meta, standard_metadata);")
        expect(said(page)).to_contain_text("the program before goes on running")
        expect(page.locator(".cm-lintRange-error")).to_have_text("clasify")
        found = page.get_by_role("list", name="What the compiler says")
        expect(found).to_contain_text("programs/router.p4:")
        expect(found).to_contain_text("classify")
        # Its text leads to its place.
        found.get_by_role("button").first.click()
        expect(page.locator(".cm-activeLine")).to_contain_text("clasify")
        page.get_by_role("button", name="As it was").click()
        expect(page.locator(".cm-lintRange-error")).to_have_count(0)
        expect(said(page)).to_have_text("The program runs.")


def test_texts_that_a_program_includes_are_changed_too(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        page.get_by_label("Text", exact=True).select_option("control/classify.p4")
        replace(page, "control classify(", "control clasify(")
        expect(said(page)).to_contain_text("the program before goes on running")
        found = page.get_by_role("list", name="What the compiler says")
        expect(found).to_contain_text("programs/router.p4:")


def test_a_shared_address_shows_everything_and_runs_nothing_until_one_says_so(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        expect(page.locator(".notice")).to_contain_text(BLOCKED)
        page.get_by_role("button", name="Give every output its own queue").click()
        expect(page.locator(".labels")).to_contain_text("virtual output queues")
        replace(page, PLACE, f"{PLACE} // changed by me")
        expect(said(page)).to_have_text("The new program runs.")
        page.get_by_role("button", name="Share").click()
        address = page.get_by_label("Address").input_value()
        page.get_by_role("button", name="Close").click()
        # Loading one's own again needs no confirmation.
        page.reload()
        runs(page)
    with opened(chromium, address) as page:
        sheet = page.locator(".sheet")
        expect(sheet).to_contain_text("one changed text")
        assert page.workers == []
        assert page.evaluate("window.vitrine") is None
        page.get_by_role("button", name="Run it").click()
        runs(page)
        expect(page.locator(".labels")).to_contain_text("virtual output queues")
        expect(page.locator(".editor")).to_contain_text("changed by me")


def test_a_shared_program_with_a_mistake_begins_when_it_is_mended(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        replace(page, PLACE, "clasify.apply(hdr, meta, standard_metadata);")
        expect(said(page)).to_contain_text("the program before goes on running")
        page.get_by_role("button", name="Share").click()
        address = page.get_by_label("Address").input_value()
    with opened(chromium, address) as page:
        page.get_by_role("button", name="Run it").click()
        expect(said(page)).to_contain_text("nothing runs before it is mended")
        expect(page.locator(".cm-lintRange-error")).to_have_text("clasify")
        replace(page, "clasify.apply", "classify.apply")
        runs(page)
        expect(said(page)).to_have_text("The program runs.")


@pytest.mark.parametrize("address", ["#s=", "#s=rubbish", "#s=q1YKLclMV7I", "#open=nothing"])
def test_an_address_that_cannot_be_read_is_answered_with_a_sentence(chromium, vitrine, address):
    with opened(chromium, vitrine + address) as page:
        expect(page.locator(".sheet")).to_have_text(re.compile(r"^\S.*\.\s*Scenarios$"))
        assert page.workers == []


def test_what_is_typed_while_the_network_begins_anew_is_kept(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        page.get_by_label("Text", exact=True).select_option("control/classify.p4")
        page.get_by_role("button", name="Again").click()
        replace(page, "control classify(", "/* typed meanwhile */ control classify(")
        page.wait_for_function("() => window.vitrine")
        runs(page)
        expect(said(page)).to_have_text("The new program runs.")
        # It is still the same text that one is in.
        expect(page.locator(".editor")).to_contain_text("typed meanwhile")
        assert "typed meanwhile" in page.evaluate(
            "vitrineAlone.running.files['control/classify.p4']"
        )


def test_a_scenario_is_chosen_by_keyboard(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        scenarios(page).focus()
        page.keyboard.press("Enter")
        card = page.get_by_role("button", name="Bufferbloat")
        expect(card).to_be_visible()
        card.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Bufferbloat")
        runs(page)
        assert page.url.endswith("#open=bufferbloat")


def test_a_lesson_is_done_by_keyboard_alone(chromium, vitrine):
    """Head-of-line blocking from its first step to its last one, out of the editor by Tab."""
    with opened(chromium, vitrine) as page:
        runs(page)
        press = page.keyboard.press
        page.locator(".cm-content").focus()
        # The editor put away, the side with the lesson is there.
        tab_to(page, "Program", "Shift+Tab")
        press("Enter")
        expect(page.get_by_role("tab", name="Lesson")).to_be_visible()
        tab_to(page, "Slow down to see it")
        press("Enter")
        expect(page.locator(".time")).to_contain_text("1 s shows 500 µs")
        # The next step has the focus, not its field: keys move time until the reader goes there.
        asked = "() => document.activeElement.matches('li[aria-current]')"
        page.wait_for_function(asked)
        press("Tab")
        assert page.evaluate("document.activeElement.matches('textarea')")
        page.keyboard.type("for the head")
        tab_to(page, "Take the picture")
        press("Enter")
        tab_to(page, "Next")
        press("Enter")
        tab_to(page, "Switch to VOQ")
        press("Space")
        expect(page.locator(".labels")).to_contain_text("virtual output queues")
        page.wait_for_function(asked)
        tab_to(page, "Next")
        press("Enter")
        tab_to(page, "FIFO, speedup 2")
        press("Enter")
        expect(page.locator(".labels")).to_contain_text("crossbar × 2")  # noqa: RUF001
        page.wait_for_function(asked)
        tab_to(page, "Next")
        press("Enter")
        steps = page.get_by_role("tabpanel", name="Lesson").locator("li")
        expect(steps.last).to_have_attribute("aria-current", "step")


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_nobody_is_shut_out(chromium, vitrine, scheme):
    with opened(chromium, vitrine, color_scheme=scheme) as page:
        runs(page)
        replace(page, PLACE, "clasify.apply(hdr, meta, standard_metadata);")
        expect(page.locator(".cm-lintRange-error")).to_have_count(1)
        serious_in(page)
        page.get_by_role("button", name="As it was").click()
        expect(said(page)).to_have_text("The program runs.")
        page.get_by_role("banner").first.get_by_role("button", name="Packets").click()
        page.get_by_role("button", name="Take one that comes there").click()
        expect(page.get_by_label("ipv4.ttl")).to_be_visible()
        page.get_by_role("button", name="Send it in").click()
        expect(page.locator(".packets .steps").first).to_be_visible()
        serious_in(page)
        page.get_by_role("button", name="Share").click()
        serious_in(page)
        page.get_by_role("button", name="Close").click()
        scenarios(page).click()
        serious_in(page)


def serious_in(page):
    found = Axe().run(page).response["violations"]
    serious = [each["id"] for each in found if each["impact"] in ("serious", "critical")]
    assert serious == []
