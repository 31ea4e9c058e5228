"""In-band telemetry: what INT-MD packets and telemetry reports say, decoded.

    instructions  the instruction bitmap: which words a hop adds, and what they mean
    stack         the INT header inside a packet and the metadata of its hops
    report        one telemetry report datagram, decoded field by field
    bulk          thousands of reports at once, with numpy
    semantics     the units of the values, which the specification leaves to each device
    layers        the same formats as scapy layers

The formats are those of the P4.org specifications: INT 2.1 and telemetry report 2.0.
Nothing here opens a socket or a file; the applications do.
"""
