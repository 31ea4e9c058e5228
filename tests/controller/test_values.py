"""Values as P4Runtime's byte strings."""

import ipaddress

import pytest

from controller.errors import ValueRangeError
from controller.values import Mac, decode, encode


@pytest.mark.parametrize(
    ("value", "width_bits", "data"),
    [
        (0, 9, b"\x00"),
        (255, 9, b"\xff"),
        (256, 9, b"\x01\x00"),
        (511, 9, b"\x01\xff"),
        (1, 128, b"\x01"),
        (ipaddress.IPv4Address("10.0.1.1"), 32, b"\x0a\x00\x01\x01"),
        # Canonical means shortest: the leading zero bytes of an address go, too.
        (Mac.parse("00:00:0a:00:01:01"), 48, b"\x0a\x00\x01\x01"),
        (ipaddress.IPv6Address("::1"), 128, b"\x01"),
    ],
)
def test_values_become_the_shortest_byte_string_that_holds_them(value, width_bits, data):
    assert encode(value, width_bits, "field") == data
    assert decode(data) == int(value.number if isinstance(value, Mac) else value)


@pytest.mark.parametrize("value", [512, -1])
def test_a_number_outside_the_width_is_refused_with_the_largest_that_fits(value):
    with pytest.raises(ValueRangeError, match="port is 9 bits wide .* largest value is 511"):
        encode(value, 9, "port")


def test_an_address_needs_a_field_of_its_own_width():
    with pytest.raises(ValueRangeError, match="address of 32 bits"):
        encode(ipaddress.IPv4Address("10.0.0.1"), 48, "dst_addr")


@pytest.mark.parametrize("value", ["10.0.0.1", True, 1.5, b"\x01"])
def test_nothing_is_guessed_from_strings_and_other_types(value):
    with pytest.raises(ValueRangeError, match="give an integer, a Mac or an address"):
        encode(value, 32, "dst_addr")


@pytest.mark.parametrize("text", ["", "00:00:0a:00:01", "00-00-0a-00-01-01", "zz:00:0a:00:01:01"])
def test_a_malformed_ethernet_address_is_refused_with_an_example(text):
    with pytest.raises(ValueRangeError, match="such as 00:00:0a:00:01:01"):
        Mac.parse(text)


def test_an_ethernet_address_reads_as_it_was_written():
    assert str(Mac.parse("00:00:0A:00:01:fe")) == "00:00:0a:00:01:fe"
