"""Entries of tables, while programs and their tables come and go."""

import pytest
from playwright.sync_api import expect

from tests.glass.browser import needs_browser
from tests.page.conftest import needs_module
from tests.page.test_alone import entries, opened, runs, said

pytestmark = [needs_browser, needs_module]
BASIC, PROGRAM = "#open=basic-forwarding", "classics/basic.p4"
# Each of its two routers has four.
ASIDE = "8 entries do not fit and are set aside."


def rename(page, text, old, new):
    """Another name in all of a text, as pasting the whole text does."""
    page.evaluate(
        """([name, old, new_]) => {
          const { desk } = vitrineAlone, text = desk.running.files[name];
          if (!text.includes(old)) throw new Error(`${old} is not in ${name}`);
          if (desk.name !== name) desk.open(name);
          const insert = text.replaceAll(old, new_);
          desk.editor.view.dispatch({ changes: { from: 0, to: text.length, insert } });
        }""",
        [text, old, new],
    )


def begins_again(page, act):
    """Does something after which the network is another one, and waits for that."""
    # Nothing comes back: all that a page remembers would be written out.
    page.evaluate("() => { window.before = window.vitrine; }")
    act()
    page.wait_for_function("() => window.vitrine && window.vitrine !== window.before")
    runs(page)


def test_entries_go_with_a_table_that_gets_another_name(chromium, vitrine):
    with opened(chromium, vitrine + BASIC) as page:
        runs(page)
        rename(page, PROGRAM, "ipv4_routes", "routes")
        expect(said(page)).to_have_text("The new program runs.")
        assert entries(page) == 4
        begins_again(page, page.get_by_role("button", name="Again").click)
        expect(said(page)).to_have_text("The program runs.")
        assert entries(page) == 4
        begins_again(page, page.reload)
        assert entries(page) == 4
        page.get_by_role("button", name="Share").click()
        address = page.get_by_label("Address").input_value()
    with opened(chromium, address) as page:
        page.get_by_role("button", name="Run it").click()
        runs(page)
        expect(said(page)).to_have_text("The program runs.")
        assert entries(page) == 4
        rename(page, PROGRAM, "routes", "ipv4_routes")
        expect(said(page)).to_have_text("The new program runs.")
        assert entries(page) == 4


def test_entries_that_do_not_fit_are_listed_and_come_back(chromium, vitrine):
    with opened(chromium, vitrine + BASIC) as page:
        runs(page)
        rename(page, PROGRAM, ": lpm", ": exact")
        expect(said(page)).to_have_text(f"The new program runs. {ASIDE}")
        aside = page.locator("details.aside")
        aside.locator("summary").click()
        expect(aside.get_by_role("listitem")).to_have_count(8)
        expect(aside.get_by_role("listitem").first).to_contain_text("s1, ipv4_routes: 10.0.")
        begins_again(page, page.get_by_role("button", name="Again").click)
        expect(said(page)).to_have_text(f"The program runs. {ASIDE}")
        assert entries(page) == 0
        rename(page, PROGRAM, ": exact", ": lpm")
        expect(said(page)).to_have_text(
            "The new program runs. 8 entries that did not fit before are there again."
        )
        expect(aside).to_be_hidden()
        assert entries(page) == 4


def test_entries_made_by_hand_stay_where_others_do_not_fit(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        page.evaluate(
            """() => vitrine.side.program.tables.insert({
              table: "ipv4_classes", matches: { "meta.l4.dst": "7" }, priority: 10,
              action: "set_class", params: { class_num: "1" },
            })"""
        )
        assert classes(page) == 1
        rename(page, "control/routing.p4", "ipv4_routes", "ipv4_ways")
        expect(said(page)).to_have_text("The new program runs.")
        assert classes(page) == 1


def classes(page):
    """How many entries there are in the table that sorts packets of IPv4 into classes."""
    return page.evaluate(
        """async () => {
          const { config } = await vitrine.calls.call("s2", "p4.v1.P4Runtime",
            "GetForwardingPipelineConfig", { device_id: 2, response_type: "ALL" });
          const table = config.p4info.tables.find((each) => each.preamble.alias === "ipv4_classes");
          return new Promise((resolve, reject) => {
            let count = 0;
            const asked = { table_entry: { table_id: table.preamble.id } };
            const call = vitrine.calls.open("s2", "p4.v1.P4Runtime", "Read",
              { device_id: 2, entities: [asked] }, {
                next: ({ entities }) => { count += entities.length; },
                ended: (error) => (error ? reject(error) : resolve(count)),
              });
            call.done();
          });
        }"""
    )


SHARED = "lib/headers.p4"


@pytest.fixture
def tunnel(chromium, vitrine):
    """Two programs that include the same headers: tunnel.p4 in s1, basic.p4 in s2."""
    with opened(chromium, vitrine + "#open=tunnel") as page:
        runs(page)
        yield page


def test_a_text_that_programs_share_reaches_all_their_routers(tunnel):
    rename(tunnel, SHARED, "      ttl;", "      hops_left;")
    expect(said(tunnel)).to_contain_text(
        "in classics/tunnel.p4 and classics/basic.p4: the programs before go on running."
    )
    tunnel.get_by_role("button", name="As it was").click()
    expect(said(tunnel)).to_have_text("The program runs.")
    rename(tunnel, SHARED, "ETHERTYPE_IPV4 = 0x0800", "ETHERTYPE_IPV4 = 0x0877")
    expect(said(tunnel)).to_have_text("The new programs run.")
    for router, device in (("s1", 1), ("s2", 2)):
        assert "0877" in program_of(tunnel, router, device)


def test_a_mistake_in_one_program_holds_up_no_other(tunnel):
    rename(tunnel, "classics/basic.p4", "ipv4_routes.apply", "routes.apply")
    wrong = "A mistake in classics/basic.p4: the program before goes on running."
    expect(said(tunnel)).to_have_text(wrong)
    rename(tunnel, "classics/tunnel.p4", "control ", "/* mine */ control ")
    expect(said(tunnel)).to_have_text(f"The new classics/tunnel.p4 runs. {wrong}")


def program_of(page, router, device):
    """The program of a router, as it was loaded."""
    return page.evaluate(
        """async ([router, device_id]) => {
          const { config } = await vitrine.calls.call(router, "p4.v1.P4Runtime",
            "GetForwardingPipelineConfig", { device_id, response_type: "ALL" });
          return new TextDecoder().decode(config.p4_device_config);
        }""",
        [router, device],
    )
