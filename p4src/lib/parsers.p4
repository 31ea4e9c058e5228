// Parser and deparser for Ethernet, IPv4 and IPv6, and for frames of the controller.
//
//   from CPU_PORT:  packet_out, and the frame behind it as payload
//   from a port:    ethernet -> ipv4 -> its options -> look at the ports of TCP and UDP
//                            -> ipv6 -> the same
//                            -> anything else is payload
//
// Reads:  the frame, standard_metadata.ingress_port.
// Writes: hdr, meta.l4 (the ports of TCP and UDP, 0 where there are none).
//
// In v1model a parser error does not drop: the packet goes on to ingress with
// standard_metadata.parser_error set and the headers extracted so far valid. The routing control
// drops every packet without a valid IP header.

#ifndef VITRINE_LIB_PARSERS_P4
#define VITRINE_LIB_PARSERS_P4

#include <core.p4>
#include <v1model.p4>
#include "headers.p4"
#ifdef WITH_INT
#include "int_headers.p4"
#include "int_metadata.p4"
#endif
#ifdef WITH_BALANCING
#include "balancing_metadata.p4"
#endif

struct headers_t {
    packet_in_t    packet_in;
    packet_out_t   packet_out;
    ethernet_t     ethernet;
    ipv4_t         ipv4;
    ipv4_options_t ipv4_options;
    ipv6_t         ipv6;
#ifdef WITH_INT
    INT_HEADERS
#endif
}

// TCP and UDP begin alike: 16 bits of source port, 16 of destination port.
struct l4_ports_t {
    bit<16> src;
    bit<16> dst;
}

// The link to the next hop, if some packets are too long for it.
struct narrow_link_t {
    bit<16>    mtu;    // the longest IP packet that it takes, in bytes; 0 for any
    mac_addr_t sender; // the sender, which gets an ICMP error
}

struct metadata_t {
    l4_ports_t    l4;
    // Set by routing: the group of next hops that lead to the destination.
    bit<16>       next_hop_group;
    // Set by routing, read by path_mtu.
    narrow_link_t narrow;
#ifdef WITH_INT
    int_metadata_t telemetry;
#endif
#ifdef WITH_BALANCING
    balancing_metadata_t balancing;
#endif
#ifdef WITH_RANK
    bit<32>       rank;
#endif
}

error {
    NotIpv4,     // another version, or a header of less than five words
    TcpTooShort  // a header length of less than five words
}

parser parse_packet(packet_in packet,
                    out headers_t hdr,
                    inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: parse_packet_out;
            default: parse_ethernet;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.packet_out);
        transition accept;
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_ipv4 {
        // Look before extracting, so that a packet we cannot read leaves hdr.ipv4 invalid.
        bit<8> version_and_ihl = packet.lookahead<bit<8>>();
        verify(version_and_ihl >= 0x45 && version_and_ihl <= 0x4f, error.NotIpv4);
        packet.extract(hdr.ipv4);
        transition select(version_and_ihl) {
            0x45: look_behind_ipv4;
            default: parse_ipv4_options;
        }
    }

    state parse_ipv4_options {
        packet.extract(hdr.ipv4_options, 32 * ((bit<32>)hdr.ipv4.ihl - 5));
        transition look_behind_ipv4;
    }

    state look_behind_ipv4 {
        // Only the first fragment of a datagram has ports.
        transition select(hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0, IP_PROTOCOL_TCP): look_at_ports;
            (0, IP_PROTOCOL_UDP): look_at_ports;
            default: accept;
        }
    }

    // Extension headers are payload: behind them no ports are looked for.
    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.next_header) {
            IP_PROTOCOL_TCP: look_at_ports;
            IP_PROTOCOL_UDP: look_at_ports;
            default: accept;
        }
    }

    // Nothing is extracted: the router reads the ports and leaves the rest alone.
    state look_at_ports {
        bit<32> ports = packet.lookahead<bit<32>>();
        meta.l4.src = ports[31:16];
        meta.l4.dst = ports[15:0];
#ifdef WITH_INT
        transition parse_l4;
    }

#include "int_parser_states.p4"
#else
        transition accept;
    }
#endif
}

control deparse_packet(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
#ifdef WITH_INT
        INT_EMIT_REPORT
#endif
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv4_options);
        packet.emit(hdr.ipv6);
#ifdef WITH_INT
        INT_EMIT_HEADERS
#endif
    }
}

#endif
