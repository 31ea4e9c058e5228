"""Your search. As it is it always finds the same."""


def find(reports):
    """Which queue was full, since when, and whose packets they were; None: no queue was.

    Each report is what one router told of one packet, a dictionary:

        time_s           when the packet left its queue
        router           "s1"
        egress_port      2
        flow             "udp 10.0.1.1:40000 > 10.0.2.1:7000"
        occupancy_bytes  what it left behind in that queue
        latency_us       how long it had been in the router
    """
    # GAP 1: which queue held the most, and is that a burst?
    # GAP 2: since when was it growing, and until when?
    # GAP 3: whose packets came meanwhile?
    if not reports:
        return None
    return "s1", 2, 0.1234, "udp 10.0.1.1:40000 > 10.0.2.1:7000"
