// Packets that are too long for the link to their next hop.
//
//   does the link have a limit (meta.narrow.mtu)?  -- no -->  as it is
//        | yes
//        v
//   is the IP packet longer?  -- no -->  as it is
//        | yes
//        v
//   to the controller, from its sender's Ethernet address: TOO_LONG
//
// The controller tells the sender how much would fit (RFC 1191, RFC 8201), or cuts an IPv4 packet
// that may be cut into fragments. Without it, such a packet is dropped and counted.
//
// Reads:  hdr.ipv4, hdr.ipv6, hdr.int_shim, meta.narrow.
// Writes: standard_metadata.egress_spec, hdr.ethernet.src_addr, hdr.packet_in.
// Apply in ingress after routing.

#ifndef VITRINE_CONTROL_PATH_MTU_P4
#define VITRINE_CONTROL_PATH_MTU_P4

#include "punt.p4"

control path_mtu(inout headers_t hdr,
                 in metadata_t meta,
                 inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.narrow.mtu != 0) {
            bit<16> length_bytes = 0;
            if (hdr.ipv4.isValid()) {
                length_bytes = hdr.ipv4.total_len;
            } else if (hdr.ipv6.isValid()) {
                // Beyond 16 bits nothing fits any link; |+| stays at the largest number.
                length_bytes = hdr.ipv6.payload_len |+| IPV6_BYTES;
            }
#ifdef WITH_INT
            // INT is taken out before a host's link, and its source looks at the MTU.
            if (hdr.int_shim.isValid()) {
                length_bytes = length_bytes |-| (4 + 4 * (bit<16>)hdr.int_shim.length_words);
            }
#endif
            if (length_bytes > meta.narrow.mtu) {
                // The Ethernet header is the next hop's already, but an answer goes to the sender.
                hdr.ethernet.src_addr = meta.narrow.sender;
                to_controller(hdr, standard_metadata, punt_reason_t.TOO_LONG);
            }
        }
    }
}

#endif
