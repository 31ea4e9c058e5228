// Parser and deparser for Ethernet and IPv4.
//
// Reads:  the frame.
// Writes: hdr.ethernet, hdr.ipv4 (valid only if version is 4 and there are no options),
//         meta.l4 (the ports of TCP and UDP, 0 where there are none).
//
// In v1model a parser error does not drop: the packet goes on to ingress with
// standard_metadata.parser_error set and the headers extracted so far valid. The routing control
// drops whatever has no valid IPv4 header.

#ifndef VITRINE_LIB_PARSERS_P4
#define VITRINE_LIB_PARSERS_P4

#include <core.p4>
#include <v1model.p4>
#include "headers.p4"

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

// TCP and UDP begin alike: 16 bits of source port, 16 of destination port.
struct l4_ports_t {
    bit<16> src;
    bit<16> dst;
}

struct metadata_t {
    l4_ports_t l4;
}

error {
    Ipv4NotPlain // not version 4, or with options
}

parser parse_packet(packet_in packet,
                    out headers_t hdr,
                    inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        // Look before extracting, so that a packet we cannot read leaves hdr.ipv4 invalid.
        bit<8> version_and_ihl = packet.lookahead<bit<8>>();
        verify(version_and_ihl == 0x45, error.Ipv4NotPlain);
        packet.extract(hdr.ipv4);
        // Only the first fragment of a datagram has ports.
        transition select(hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0, IP_PROTOCOL_TCP): look_at_ports;
            (0, IP_PROTOCOL_UDP): look_at_ports;
            default: accept;
        }
    }

    // Nothing is extracted: the router reads the ports and leaves the rest alone.
    state look_at_ports {
        bit<32> ports = packet.lookahead<bit<32>>();
        meta.l4.src = ports[31:16];
        meta.l4.dst = ports[15:0];
        transition accept;
    }
}

control deparse_packet(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

#endif
