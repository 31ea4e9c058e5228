"""The instruments' output becomes numbers on one clock."""

import json

import pytest

from labs.bench import data_connection
from labs.measure.iperf import Result
from labs.measure.ping import Echo, Pings
from labs.measure.sockets import SocketSample
from labs.worlds.live import iperf, page, ping, sockets
from tests.labs.saw import socket_sample
from topo.errors import ProcessError

# Two lines of `ss -HOtin state established`, shortened only in fields that are not read.
SS = """\
0      1310720     10.0.1.1:52910     10.0.2.1:5201  cubic wscale:10,10 rto:250 rtt:44.912/5.1 \
mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:43 ssthresh:25 bytes_sent:3330433 \
bytes_retrans:31856 bytes_acked:3236313 segs_out:2301 segs_in:1142 data_segs_out:2299 \
send 11.1Mbps lastrcv:2741 lastack:1 pacing_rate 13.3Mbps delivery_rate 9.5Mbps \
delivered:2258 busy:2690ms rwnd_limited:120ms(4.5%) sndbuf_limited:8ms(0.3%) unacked:42 \
retrans:1/22 rcv_space:14480 rcv_ssthresh:64088 notsent:1249920 minrtt:0.151 snd_wnd:3145728
0      0      10.0.1.1:52896     10.0.2.1:5201  reno wscale:10,10 rto:201 rtt:0.166/0.1 ato:40 \
mss:1448 cwnd:10 bytes_sent:184 bytes_acked:185 send 698Mbps delivery_rate 139Gbps app_limited \
minrtt:0.076 snd_wnd:44032
"""


def test_a_line_of_ss_is_one_connection_with_its_window_and_its_losses():
    data, control = sockets.parse(SS, time_s=3.5)
    assert data == SocketSample(
        time_s=3.5,
        local="10.0.1.1:52910",
        peer="10.0.2.1:5201",
        congestion="cubic",
        mss_bytes=1448,
        cwnd_packets=43,
        ssthresh_packets=25,
        rtt_ms=44.912,
        unacked_packets=42,
        # 22 in all, of which one is under way.
        retransmits=22,
        bytes_acked=3_236_313,
        delivered_packets=2258,
        delivery_rate_bps=9.5e6,
        receiver_window_bytes=3_145_728,
        rwnd_limited_ms=120,
        sndbuf_limited_ms=8,
    )
    # Fields that ss omits because nothing happened yet are 0.
    assert (control.ssthresh_packets, control.retransmits, control.unacked_packets) == (0, 0, 0)
    assert control.delivery_rate_bps == 139e9


def test_ss_without_a_connection_is_no_sample():
    assert sockets.parse("", 1.0) == []


def test_the_connection_with_the_data_is_the_one_that_acknowledged_the_most():
    data = [socket_sample(time_s) for time_s in (1.0, 2.0)]
    control = [
        socket_sample(time_s, local="10.0.1.1:39998", bytes_acked=185) for time_s in (0.9, 1.0, 2.0)
    ]
    assert data_connection([*control, *data]) == data
    assert data_connection([]) == []


def test_iperf_tells_what_the_receiver_got_and_what_was_sent_again():
    end = {
        "sum_sent": {"retransmits": 22, "bits_per_second": 9.9e6, "bytes": 5_000_000},
        "sum_received": {"bits_per_second": 9.55e6, "bytes": 4_775_000},
    }
    assert iperf.parse(json.dumps({"end": end})) == Result(9.55e6, 4_775_000, 22)


@pytest.mark.parametrize(
    ("output", "complaint"),
    [
        ('{"error": "unable to connect"}', "iperf3 gave up: unable to connect"),
        ("iperf3: error", "iperf3 printed no JSON"),
        ('{"end": {}}', "iperf3's JSON has no 'sum_received' at its end"),
    ],
)
def test_an_iperf_that_failed_says_why(output, complaint):
    with pytest.raises(ProcessError, match=complaint):
        iperf.parse(output)


PING = """\
PING 10.0.2.1 (10.0.2.1) 56(84) bytes of data.
[1700000010.500000] 64 bytes from 10.0.2.1: icmp_seq=1 ttl=63 time=500 ms
[1700000010.700000] 64 bytes from 10.0.2.1: icmp_seq=3 ttl=63 time=40.5 ms
[1700000010.701000] 64 bytes from 10.0.2.1: icmp_seq=3 ttl=63 time=41.5 ms (DUP!)

--- 10.0.2.1 ping statistics ---
3 packets transmitted, 2 received, +1 duplicates, 33.3333% packet loss, time 401ms
"""


def test_an_answer_counts_from_when_its_request_was_sent():
    pings = ping.parse(PING, of_wall=lambda wall_s: wall_s - 1_700_000_000)
    # Answered at 10.5 s after 500 ms; at 10.7 s after 40.5 ms. A second answer counts once.
    assert [echo.rtt_ms for echo in pings.echoes] == [500.0, 40.5]
    assert [echo.time_s for echo in pings.echoes] == pytest.approx([10.0, 10.6595])
    assert (pings.sent, pings.lost) == (3, 1)
    assert pings.mean_ms == pytest.approx(270.25)


def test_no_answer_has_no_mean_rather_than_a_mean_of_zero():
    nothing = ping.parse("3 packets transmitted, 0 received", of_wall=float)
    assert (nothing.sent, nothing.lost) == (3, 3)
    assert nothing.mean_ms != nothing.mean_ms


def test_a_ping_that_is_started_again_goes_on():
    first = ping.parse(PING, of_wall=lambda wall_s: wall_s - 1_700_000_000)
    both = first.followed_by(ping.parse(PING, of_wall=lambda wall_s: wall_s - 1_699_999_900))
    assert [echo.time_s for echo in both.echoes] == pytest.approx([10.0, 10.6595, 110.0, 110.6595])
    assert (both.sent, both.lost) == (6, 2)


def test_pings_of_a_span_are_those_sent_within_it():
    echoes = tuple(Echo(float(second), second * 10.0) for second in range(5))
    assert Pings(5, echoes).between(1, 3).mean_ms == pytest.approx(15.0)


def test_a_page_is_fetched_whole_and_its_times_are_in_order():
    fetched = page.parse(
        json.dumps(
            {"start_s": 107.0, "first_byte_s": 107.05, "end_s": 108.25, "received_bytes": 177_669}
        ),
        of_monotonic=lambda monotonic_s: monotonic_s - 100,
    )
    assert (fetched.start_s, fetched.first_byte_s) == (7.0, pytest.approx(7.05))
    assert fetched.seconds == pytest.approx(1.25)
