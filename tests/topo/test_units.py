"""Quantities that people write."""

from fractions import Fraction

import pytest

from topo import units
from topo.errors import UnitError


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("10 Mb/s", 10_000_000),
        ("1.5 Mb/s", 1_500_000),
        ("1gbit", 1_000_000_000),
        ("100mbit", 100_000_000),
        ("800 b/s", 800),
    ],
)
def test_rates_are_whole_bits_a_second(text, bps):
    assert units.rate_bps(text) == bps


@pytest.mark.parametrize("text", ["10", "Mb/s", "10 MB/s", "fast", "-1 Mb/s", "1e6 b/s", ""])
def test_a_rate_without_a_known_unit_is_refused(text):
    with pytest.raises(UnitError, match="is not a rate"):
        units.rate_bps(text)


def test_a_number_in_yaml_without_a_unit_is_refused_with_an_example():
    with pytest.raises(UnitError, match="such as '50 packets'"):
        units.packets(50)


def test_half_a_packet_is_refused():
    with pytest.raises(UnitError, match="whole packet"):
        units.packets("0.5 packets")


def test_spans_are_whole_nanoseconds():
    assert units.span_ns("20 ms") == 20_000_000
    assert units.span_ns("0.5 us") == 500


@pytest.mark.parametrize(
    ("bps", "text"),
    [
        (9_571_234, "9.57 Mb/s"),
        (1e9, "1 Gb/s"),
        (999_900_000, "1 Gb/s"),
        (1500, "1.5 kb/s"),
        (12, "12 b/s"),
    ],
)
def test_rates_are_shown_with_three_digits(bps, text):
    assert units.format_rate(bps) == text


@pytest.mark.parametrize(
    ("text", "size"), [("1514 B", 1514), ("64 kB", 64_000), ("16 MiB", 16_777_216), ("2 bytes", 2)]
)
def test_sizes_are_whole_bytes(text, size):
    assert units.size_bytes(text) == size


def test_shares_are_parts_per_million_and_at_most_all():
    assert (units.share_ppm("0.01 %"), units.share_ppm("20 ppm")) == (100, 20)
    with pytest.raises(UnitError, match="more than 100 %"):
        units.share_ppm("100.1 %")


@pytest.mark.parametrize(
    ("text", "ratio"), [("2", Fraction(2)), ("1.5", Fraction(3, 2)), ("1/8", Fraction(1, 8))]
)
def test_ratios_are_exact_and_have_no_unit(text, ratio):
    assert units.ratio(text) == ratio


@pytest.mark.parametrize("text", ["half", "1/0", "-1", "1 %"])
def test_what_is_no_ratio_is_refused(text):
    with pytest.raises(UnitError, match="is not a ratio"):
        units.ratio(text)
