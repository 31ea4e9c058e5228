"""Packets by hand and packet tests in the page, as a person makes them."""

import re
import struct

from playwright.sync_api import expect
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether

from tests.glass.browser import needs_browser
from tests.page.conftest import needs_module
from tests.page.test_alone import opened, replace, runs, said

pytestmark = [needs_browser, needs_module]
BASIC = "#open=basic-forwarding"
DIGITS = "The packet in hexadecimal digits"


def packets(page):
    """The part of the page, opened."""
    page.get_by_role("banner").first.get_by_role("button", name="Packets").click()
    return page.get_by_role("region", name="Packets by hand")


def built(part):
    """A ping from h3 to h2, built field by field; on its way no queue is long."""
    part.get_by_label("Into port").select_option("s2 1")
    part.get_by_role("button", name="Add ethernet").click()
    part.get_by_role("button", name="Add ipv4").click()
    part.get_by_label("ipv4.protocol").fill("1")
    part.get_by_label("ipv4.protocol").press("Enter")
    part.get_by_label("Payload").fill("0800 0000 0001 0001 68656c6c6f")
    part.get_by_label("Payload").press("Enter")


def frame(part):
    return bytes.fromhex(re.sub(r"\s", "", part.get_by_label(DIGITS).input_value()))


def test_a_packet_is_built_by_the_parser_s_headers_with_lengths_and_checksums(chromium, vitrine):
    with opened(chromium, vitrine + BASIC) as page:
        runs(page)
        part = packets(page)
        built(part)
        expect(part.get_by_label("ipv4.total_len")).to_have_value("33")
        expect(part.get_by_label("ethernet.ether_type")).to_have_value("0x0800")
        told = Ether(frame(part))
        assert (told[IP].src, told[IP].dst) == ("10.0.3.1", "10.0.2.1")
        given = told[IP].chksum, told[ICMP].chksum
        del told[IP].chksum, told[ICMP].chksum
        again = Ether(bytes(told))
        assert (again[IP].chksum, again[ICMP].chksum) == given


def test_a_packet_is_sent_followed_kept_and_tested_again_when_the_program_changes(
    chromium, vitrine
):
    with opened(chromium, vitrine + BASIC) as page:
        runs(page)
        part = packets(page)
        built(part)
        part.get_by_role("button", name="Send it in").click()
        expect(part.locator(".steps")).to_contain_text("left")
        expect(part.locator(".steps")).to_contain_text("ttl")
        part.get_by_role("button", name="Keep as a test").click()
        tests = page.get_by_role("list", name="What came of the tests")
        # Beside it the kit's own.
        expect(page.get_by_text("All 2 tests pass.")).to_be_visible()
        expect(page.locator(".editor")).to_contain_text("expect 2")
        # It is part of the shared address.
        assert "tests/basic/packet-1.stf" in page.evaluate("vitrineAlone.changes().files")
        page.get_by_label("Text", exact=True).select_option("classics/basic.p4")
        replace(page, "hdr.ipv4.ttl - 1", "hdr.ipv4.ttl - 2")
        expect(said(page)).to_have_text("The new program runs.")
        expect(page.get_by_text("2 of 2 tests fail.")).to_be_visible()
        own = tests.get_by_role("button", name=re.compile("packet-1"))
        expect(own).to_contain_text("differs, in ipv4.ttl")
        # Its text leads to its line, which is underlined.
        own.click()
        expect(page.locator(".cm-activeLine")).to_contain_text("expect 2")
        expect(page.locator(".cm-lintRange-error").first).to_contain_text("expect 2")


def test_what_the_network_carries_is_taken_changed_and_sent(chromium, vitrine):
    with opened(chromium, vitrine + BASIC) as page:
        runs(page)
        part = packets(page)
        part.get_by_role("button", name="Take one that comes there").click()
        ttl = part.get_by_label("ipv4.ttl")
        expect(ttl).to_have_value("64")
        ttl.fill("1")
        ttl.press("Enter")
        # Too slow for events of its own to matter.
        page.evaluate("vitrine.player.setPace(1e-6)")
        part.get_by_role("button", name="Send it in").click()
        part.get_by_role("button", name="To its end").click()
        expect(part.locator(".steps")).to_contain_text("dropped")
        books = page.evaluate("vitrine.world.call('Look', {}).then((told) => told.books)")
        assert (books["injected"], books["balanced"]) == (1, True)


def test_a_capture_is_opened_and_digits_are_pasted(chromium, vitrine):
    ping = bytes(Ether() / IP(src="10.0.1.1", dst="10.0.3.1") / ICMP())
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    lengths = [(each, len(each)) for each in (ping[:20], ping)]
    records = [struct.pack("<IIII", 0, 0, length, length) + each for each, length in lengths]
    with opened(chromium, vitrine + BASIC) as page:
        runs(page)
        part = packets(page)
        part.get_by_label("A capture").set_input_files(
            {"name": "a.pcap", "mimeType": "", "buffer": head + b"".join(records)}
        )
        expect(part.locator(".outcome")).to_contain_text("the parser stops with PacketTooShort")
        part.get_by_label("Packet of the capture").select_option("1")
        expect(part.get_by_label("ipv4.dst_addr")).to_have_value("10.0.3.1")
        assert frame(part) == ping
        part.get_by_label(DIGITS).fill("0x0000:  4500 zz")
        part.get_by_label(DIGITS).blur()
        expect(part.locator(".outcome")).to_contain_text("no hexadecimal digit")


def test_the_kit_s_tests_of_a_program_are_run_and_a_mistake_is_underlined(chromium, vitrine):
    with opened(chromium, vitrine) as page:
        runs(page)
        page.get_by_role("button", name="Run the tests").click()
        expect(page.get_by_text(re.compile(r"All \d+ tests pass."))).to_be_visible()
        page.get_by_label("Text", exact=True).select_option("tests/router/ipv4.stf")
        replace(page, "packet 1 ", "pocket 1 ")
        expect(page.get_by_role("list", name="What came of the tests")).to_contain_text(
            "`pocket` is no STF statement"
        )
        expect(page.locator(".cm-lintRange-error")).to_contain_text("pocket 1")
