"""The page editor's knowledge of the program, as a person finds it."""

from playwright.sync_api import expect

from tests.glass.browser import needs_browser
from tests.page.conftest import needs_module
from tests.page.test_alone import PLACE, opened, replace, runs, said

pytestmark = [needs_browser, needs_module]

# A list that just opened takes no keys for 75 ms, lest one accept what one has not read. A person
# is slower than that; the test has to be, too.
DEAF_MS = 200


def cursor_behind(page, text):
    """Puts the cursor behind a piece of the text, which is then in sight."""
    page.evaluate(
        """(text) => {
          const { view } = vitrineAlone.desk.editor;
          const from = view.state.doc.toString().indexOf(text);
          if (from < 0) throw new Error(`${text} is not in the text`);
          vitrineAlone.desk.editor.show(from + text.length);
        }""",
        text,
    )


def open_text(page, name):
    page.get_by_label("Text", exact=True).select_option(name)


def test_fields_are_offered_behind_a_dot_and_explained(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        replace(page, PLACE, f"{PLACE} hdr.ipv4")
        cursor_behind(page, f"{PLACE} hdr.ipv4")
        page.keyboard.type(".tt")
        # It takes no keys either while completions for the last letters are still looked for.
        offered = page.locator(".cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)")
        expect(offered.get_by_role("option", name="ttl")).to_be_visible()
        page.wait_for_timeout(DEAF_MS)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.keyboard.type(" = 7;")
        expect(said(page)).to_have_text("The new program runs.")


def test_what_is_typed_stays_as_it_is_typed(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        words = ["else", "true", "action", "state", "header", "mine"]
        for word in words:
            cursor_behind(page, PLACE)
            page.keyboard.press("Enter")
            page.keyboard.type(word)
            offered = page.locator(".cm-tooltip-autocomplete")
            # Whatever is offered, or nothing.
            page.wait_for_timeout(2 * DEAF_MS)
            if offered.count():
                expect(offered.get_by_role("option", selected=True)).to_have_count(0)
            page.keyboard.press("Enter")
            typed = page.evaluate(
                "vitrineAlone.desk.editor.text.split('\\n').map((line) => line.trim())"
            )
            assert word in typed
            page.keyboard.press("Escape")


# As it is laid out; typed without a blank at the beginning of a line.
TYPED = """control mine(inout headers_t hdr) {
    action none() {
    }
    table routes {
        key = { hdr.ipv4.dst_addr: exact; }
        actions = {
            none;
        }
    }
    apply {
        if (hdr.ipv4.isValid()) {
            routes.apply(); // One more {
        } else {
            exit;
        }
    }
}"""


def test_a_line_is_indented_as_deep_as_braces_are_open(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        page.evaluate("vitrineAlone.desk.editor.show(vitrineAlone.desk.editor.text.length)")
        page.keyboard.press("Enter")
        for line in TYPED.split("\n"):
            page.keyboard.type(line.strip())
            page.keyboard.press("Escape")
            page.keyboard.press("Enter")
        text = page.evaluate("vitrineAlone.desk.editor.text")
        assert text[text.index("control mine") :].strip() == TYPED


def test_the_way_to_a_declaration_has_a_way_back(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        text = page.get_by_label("Text", exact=True)
        back = page.get_by_role("button", name="Back", exact=True)
        expect(back).to_be_disabled()
        place = "path_mtu.apply(hdr, meta, standard_metadata);\n            classi"
        cursor_behind(page, place)
        at = "vitrineAlone.desk.editor.view.state.selection.main.head"
        before = page.evaluate(at)
        page.keyboard.press("F12")
        expect(text).to_have_value("control/classify.p4")
        page.keyboard.press("Alt+ArrowLeft")
        expect(text).to_have_value("programs/router.p4")
        assert page.evaluate(at) == before
        page.keyboard.press("F12")
        expect(text).to_have_value("control/classify.p4")
        back.click()
        expect(text).to_have_value("programs/router.p4")
        expect(back).to_be_disabled()


def test_a_name_is_explained_and_leads_to_its_declaration(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        cursor_behind(page, "path_mtu.apply(hdr, meta, standard_metadata);\n            classi")
        # Where the cursor is, the pointer goes.
        place = page.evaluate(
            """async () => {
              const { view } = vitrineAlone.desk.editor;
              const place = () => view.coordsAtPos(view.state.selection.main.head);
              const picture = () => new Promise((resolve) => requestAnimationFrame(resolve));
              // The text scrolls to it in the next pictures.
              for (let last, now = place(); ; now = place()) {
                if (now && last && now.top === last.top && now.left === last.left) return now;
                last = now;
                await picture();
                await picture();
              }
            }"""
        )
        page.mouse.move(place["left"] - 3, (place["top"] + place["bottom"]) / 2)
        expect(page.locator(".meaning")).to_contain_text("control classify(")
        page.keyboard.press("F12")
        expect(page.get_by_label("Text", exact=True)).to_have_value("control/classify.p4")


def test_what_is_part_of_the_compiler_can_be_read(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        cursor_behind(page, "inout standard_meta")
        page.keyboard.press("F12")
        expect(page.get_by_label("Text", exact=True)).to_have_value("p4include/v1model.p4")
        expect(page.locator(".cm-activeLine")).to_contain_text("struct standard_metadata_t")
        page.keyboard.type("x")
        expect(page.locator(".cm-activeLine")).to_have_text("struct standard_metadata_t {")


def test_places_where_a_name_is_used_are_listed(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        open_text(page, "control/classify.p4")
        cursor_behind(page, "control classi")
        page.keyboard.press("Shift+F12")
        used = page.get_by_role("list", name="Where it is used")
        expect(used.get_by_role("button", name="programs/router.p4:")).to_contain_text("classify")
        used.get_by_role("button", name="programs/router.p4:").first.click()
        expect(page.get_by_label("Text", exact=True)).to_have_value("programs/router.p4")


def test_a_name_gets_another_one_in_all_texts(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        open_text(page, "control/classify.p4")
        cursor_behind(page, "control classi")
        page.keyboard.press("F2")
        name = page.get_by_label("New name")
        expect(name).to_have_value("classify")
        name.fill("sort")
        name.press("Enter")
        # Its tables have other names now, and had no entries.
        expect(said(page)).to_have_text("The new program runs.")
        open_text(page, "programs/router.p4")
        expect(page.locator(".editor")).to_contain_text("sort.apply(hdr, meta")


def test_a_mistake_is_mended_with_one_click(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        replace(page, PLACE, "clasify.apply(hdr, meta, standard_metadata);")
        page.get_by_role("button", name="Write classify").first.click()
        expect(page.locator(".cm-lintRange-error")).to_have_count(0)
        expect(said(page)).to_have_text("The program runs.")


def test_a_text_is_laid_out_with_one_click(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        before = page.evaluate("vitrineAlone.desk.editor.view.state.doc.toString()")
        replace(page, PLACE, f"{{  }}\n{PLACE}".replace("(hdr, meta", "( hdr ,meta"))
        page.get_by_role("button", name="Format").click()
        page.wait_for_function(
            "(wanted) => vitrineAlone.desk.editor.view.state.doc.toString() === wanted",
            arg=before.replace(PLACE, f"{{  }}\n            {PLACE}"),
        )


def test_a_parser_that_never_ends_is_warned_of_while_it_is_typed(chromium, vitrine):
    port = "bit<32> ports = packet.lookahead<bit<32>>();\n"
    # The port is looked at again and again; the packet stays as long as it is.
    endless = f"{port} transition select(ports) {{ 53: look_at_ports; default: accept; }} }}\n"
    with opened(chromium, vitrine) as page:
        runs(page)
        open_text(page, "lib/parsers.p4")
        replace(page, port, f"{endless} state behind_it {{ {port}")
        warned = page.locator(".desk li.warning")
        title = "state `look_at_ports` leads back to itself without reading anything"
        expect(warned.filter(has_text=title)).to_have_count(1)
        replace(page, f"{endless} state behind_it {{ {port}", port)
        expect(warned).to_have_count(0)
