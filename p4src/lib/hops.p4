// Entries of routers in the trails of probes: a program selects its kind of hop by `typedef ...
// hop_t;`, and its length as HOP_BYTES. Both begin with the Ethernet address of the port that the
// probe left by: it names router and line.

#ifndef VITRINE_LIB_HOPS_P4
#define VITRINE_LIB_HOPS_P4

#include "headers.p4"

// How long the probe stood in the queue in front of the line.
header waiting_hop_t {
    mac_addr_t port;
    bit<32>    waited_us;
    bit<16>    depth;     // Packets that were left behind in it.
}

const bit<16> WAITING_HOP_BYTES = 12;

// The bytes that the line carried.
header load_hop_t {
    mac_addr_t port;
    bit<32>    sent_bytes; // Since the last probe left by this port, that one included.
    bit<32>    span_us;    // How long ago that was.
}

const bit<16> LOAD_HOP_BYTES = 14;

#endif
