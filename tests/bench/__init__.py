"""`make bench`: throughput, packet rates, delays and precision of live switches, side by side.

    __main__.py   which subjects and figures, in which order; out/bench/ at the end
    network.py    namespaces and cables of our own
    subjects.py   what stands between the two hosts: a cable, a bridge, one switch or two
    measure.py    one figure each: iperf3, ping, the probe
    probe.py      runs inside a namespace: counts and times what a device receives
    routes.py     runs inside a namespace: programs a switch through P4Runtime
    picture.py    the bars

Nothing here passes or fails: timing on a shared machine is no test. What must hold in all cases is
in the tests of the crates and in tests/live.
"""
