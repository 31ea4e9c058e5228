"""Commands at the prompt of the virtual world."""

import pytest

from labs.worlds.virtual import options
from labs.worlds.virtual.options import IPERF, PING, OptionError


def test_ping_takes_its_options_before_and_behind_the_target():
    for words in ("-c 3 -i 0.2 -s 1400 h2", "h2 -c 3 -i 0.2 -s 1400"):
        given = options.read(PING, words.split())
        assert (given.target, given.count) == ("h2", 3)
        assert (given.interval_s, given.payload_bytes) == (0.2, 1400)
    # As ping: a second apart, 56 bytes, until Ctrl-C.
    plain = options.read(PING, ["h2"])
    assert (plain.count, plain.interval_s, plain.payload_bytes) == (None, 1.0, 56)


def test_iperf_counts_bits_in_thousands_and_bytes_in_powers_of_two():
    words = "-c h2 -t 5 -C bbr -R -b 10M -n 2M -P 4"
    given = options.read(IPERF, words.split())
    assert (given.target, given.seconds, given.congestion) == ("h2", 5.0, "bbr")
    assert given.is_reverse and not given.is_udp
    assert (given.rate_bps, given.length_bytes, given.connections) == (10_000_000, 2_097_152, 4)


@pytest.mark.parametrize(
    ("parser", "words", "said"),
    [
        (
            PING,
            "-c three h2",
            "argument -c: invalid number value: 'three'; it knows -c COUNT",
        ),
        (PING, "", "ping: the following arguments are required: target"),
        (PING, "-i 0 h2", "invalid number of seconds value: '0'"),
        (IPERF, "-c h2 -C renoo", "invalid choice: 'renoo'"),
        (IPERF, "-c h2 -b fast", "invalid rate value: 'fast'"),
        (IPERF, "-c h2 --bidir", "unrecognized arguments: --bidir; it knows -c HOST"),
    ],
)
def test_what_cannot_be_read_is_said_with_what_can(parser, words, said):
    with pytest.raises(OptionError, match=said):
        options.read(parser, words.split())


def test_a_server_in_the_background_is_a_server():
    assert options.read(IPERF, ["-s", "-D"]).is_server
