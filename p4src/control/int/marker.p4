// The mark of packets with INT: a DSCP, or a UDP port.
//
// One marker for the whole domain, chosen when the program is compiled:
//   (nothing)                       DSCP 0x17, TCP and UDP
//   -D INT_MARKER_DSCP=0x2a         another DSCP
//   -D INT_MARKER_UDP_PORT=32000    a destination port instead, UDP only
// The shim keeps what the marker replaced. Hosts must not use the marker themselves.
//
// Writes: hdr.int_shim.original and the marked field, or the marked field back from the shim.

#ifndef VITRINE_CONTROL_INT_MARKER_P4
#define VITRINE_CONTROL_INT_MARKER_P4

#include "../../lib/parsers.p4"

#ifdef INT_MARKER_UDP_PORT
// The shim holds a UDP port; packets without one go on without INT.
const bit<2> INT_NEXT_PROTOCOL_TYPE = 1;
#define INT_CAN_MARK hdr.udp.isValid()
#else
// The shim holds a DSCP.
const bit<2> INT_NEXT_PROTOCOL_TYPE = 0;
#define INT_CAN_MARK (hdr.tcp.isValid() || hdr.udp.isValid())
#endif

control int_mark(inout headers_t hdr) {
    apply {
#ifdef INT_MARKER_UDP_PORT
        hdr.int_shim.original = hdr.udp.dst_port;
        hdr.udp.dst_port = INT_MARKER_UDP_PORT;
#else
        // As it is now: a program may have set it since the packet came in.
        if (hdr.ipv4.isValid()) {
            hdr.int_shim.original = 8w0 ++ hdr.ipv4.dscp ++ 2w0;
            hdr.ipv4.dscp = INT_MARKER_DSCP;
        } else if (hdr.ipv6.isValid()) {
            hdr.int_shim.original = 8w0 ++ hdr.ipv6.dscp ++ 2w0;
            hdr.ipv6.dscp = INT_MARKER_DSCP;
        }
#endif
    }
}

control int_unmark(inout headers_t hdr) {
    apply {
#ifdef INT_MARKER_UDP_PORT
        hdr.udp.dst_port = hdr.int_shim.original;
#else
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.dscp = hdr.int_shim.original[7:2];
        } else if (hdr.ipv6.isValid()) {
            hdr.ipv6.dscp = hdr.int_shim.original[7:2];
        }
#endif
    }
}

#endif
