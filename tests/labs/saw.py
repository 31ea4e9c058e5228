"""Recordings as a TCP flow makes them, computed by hand: a queue fills, drops, halves, fills."""

from labs.measure import iperf
from labs.measure.ping import Echo, Pings
from labs.measure.router import Drop, PortSeries, QueueSeries
from labs.measure.sockets import SocketSample
from labs.recording import Flow, Recording
from labs.view import Subject

SUBJECT = Subject("s1 port 2 toward h2", line_rate_bps=10_000_000, limit_packets=50)

# A line of 10 Mb/s that is always busy sends 1,250,000 bytes a second.
LINE_BYTES_PER_S = 1_250_000
TOOTH_S = 2.0


def saw(duration_s: float, interval_s: float = 0.02) -> PortSeries:
    """Teeth of two seconds, each from 25 to 50 packets, one packet dropped at each tip."""
    series = PortSeries()
    for index in range(round(duration_s / interval_s) + 1):
        # As exact as the files have it.
        time_s = round(index * interval_s, 6)
        depth = int(25 + 25 * (time_s % TOOTH_S) / TOOTH_S)
        add(series, time_s, depth, departed_bytes=round(time_s * LINE_BYTES_PER_S))
        if int(time_s / TOOTH_S) > series.dropped_packets:
            series.drops.append(Drop(time_s, 0, "QUEUE_LIMIT", 1))
    return series


def steady(depth: int, *, duration_s: float = 10.0, interval_s: float = 0.05) -> PortSeries:
    """A queue that keeps its depth, before a line that sends nothing."""
    series = PortSeries()
    for index in range(round(duration_s / interval_s)):
        add(series, index * interval_s, depth, departed_bytes=0)
    return series


def add(series: PortSeries, time_s: float, depth: int, *, departed_bytes: int) -> None:
    queue = series.queues.setdefault(0, QueueSeries())
    for column in (series, queue):
        column.packets.append(depth)
        column.bytes.append(depth * 1514)
        column.departed_bytes.append(departed_bytes)
    series.departed_packets.append(departed_bytes // 1514)
    # The other direction of the cable: one acknowledgment under way, and none that waits.
    series.backlog_packets.append(0)
    series.arriving_packets.append(1)
    series.leaving_packets.append(0)
    series.time_s.append(time_s)


def socket_sample(time_s: float, **changed) -> SocketSample:
    fields = {
        "local": "10.0.1.1:40000",
        "peer": "10.0.2.1:5201",
        "congestion": "reno",
        "mss_bytes": 1448,
        "cwnd_packets": 30,
        "ssthresh_packets": 25,
        "rtt_ms": 45.0,
        "unacked_packets": 30,
        "retransmits": 1,
        # 9.56 Mb/s of payload are 1,195,000 bytes a second.
        "bytes_acked": round(time_s * 1_195_000),
        "delivered_packets": time_s * 1_195_000 / 1448,
        "delivery_rate_bps": 9.56e6,
        "receiver_window_bytes": 3_000_000,
        "rwnd_limited_ms": 0,
        "sndbuf_limited_ms": 0,
    }
    return SocketSample(time_s=time_s, **{**fields, **changed})


def flow(duration_s: float) -> Flow:
    # Segments of one byte, so that what has arrived is a whole number of them.
    samples = [
        socket_sample(index / 20, mss_bytes=1, delivered_packets=index * 59_750)
        for index in range(round(duration_s * 20) + 1)
    ]
    result = iperf.Result(9.56e6, round(duration_s * 1_195_000), 5)
    return Flow("flow", "h1", "h2", "reno", result, samples)


def recording(duration_s: float = 10.0) -> Recording:
    """The recording of the lab `bottleneck`."""
    return Recording(
        ports={"s1-eth2": saw(duration_s)},
        flows={"flow": flow(duration_s)},
        pings={
            "alone": Pings(2, (Echo(0.0, 0.2), Echo(0.2, 0.4))),
            "during the flow": Pings(3, (Echo(1.0, 44.0), Echo(2.0, 46.0))),
        },
        sockets={"h1": list(flow(duration_s).samples)},
    )
