"""The instruments of a lab: iperf3, ss, ping, page fetches and the router's own queues.

Each module starts its instrument or parses what it printed. All of them date what they see in
seconds of one clock, see `clock`.
"""
