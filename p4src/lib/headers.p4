// Every header of the kit, defined once.
//
// Field names are the RFCs' words in snake_case. A program takes the headers it needs by putting
// them into its own `headers_t`; no program and no lab defines a header again.

#ifndef VITRINE_LIB_HEADERS_P4
#define VITRINE_LIB_HEADERS_P4

typedef bit<48>  mac_addr_t;
typedef bit<32>  ipv4_addr_t;
typedef bit<128> ipv6_addr_t;
typedef bit<9>   port_num_t;
typedef bit<3>   class_num_t;

// Where the controller is. The switch must be started with this number as its CPU port.
const port_num_t CPU_PORT = 510;
// The value that mark_to_drop writes into egress_spec.
const port_num_t DROP_PORT = 511;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_ARP  = 0x0806;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;

const bit<8> IP_PROTOCOL_TCP = 6;
const bit<8> IP_PROTOCOL_UDP = 17;

// RFC 3168: what the two ECN bits say. NOT_ECT packets cannot be marked, CE packets are.
const bit<2> ECN_NOT_ECT = 0;
const bit<2> ECN_CE      = 3;

// IEEE 802.3, without preamble and frame check sequence: a port neither sees nor sends those.
header ethernet_t {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16>    ether_type;
}

// RFC 791, the part that every packet has: five words.
header ipv4_t {
    bit<4>      version;
    bit<4>      ihl;
    bit<6>      dscp;
    bit<2>      ecn;
    bit<16>     total_len;
    bit<16>     identification;
    bit<1>      reserved;
    bit<1>      dont_fragment;
    bit<1>      more_fragments;
    bit<13>     frag_offset;
    bit<8>      ttl;
    bit<8>      protocol;
    bit<16>     hdr_checksum;
    ipv4_addr_t src_addr;
    ipv4_addr_t dst_addr;
}

// RFC 791: up to ten more words, where `ihl` says so. The router passes them on unread, as RFC 7126
// lets it: whatever asks routers for a favour is left to the hosts.
header ipv4_options_t {
    varbit<320> options;
}

// RFC 8200; the traffic class is named as in IPv4, by its parts.
header ipv6_t {
    bit<4>      version;
    bit<6>      dscp;
    bit<2>      ecn;
    bit<20>     flow_label;
    bit<16>     payload_len;
    bit<8>      next_header;
    bit<8>      hop_limit;
    ipv6_addr_t src_addr;
    ipv6_addr_t dst_addr;
}

// The header's own length, which payload_len does not count.
const bit<16> IPV6_BYTES = 40;

// RFC 768.
header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length_bytes;
    bit<16> checksum;
}

// Why a packet went to the controller.
enum bit<8> punt_reason_t {
    NEIGHBOUR = 1,  // It requests or announces an Ethernet address: ARP.
    LOCAL     = 2,  // It is for one of the router's own addresses.
    NO_ROUTE  = 3,  // No route leads to its destination.
    TTL       = 4,  // Its time to live, or hop limit, is used up.
    TOO_LONG  = 5   // It is longer than the link to its next hop takes.
}

// In front of a frame on its way to the controller; P4Runtime's PacketIn has it as metadata.
@controller_header("packet_in")
header packet_in_t {
    bit<7>        padding;
    port_num_t    ingress_port;
    punt_reason_t reason;
}

// In front of a frame from the controller; P4Runtime's PacketOut has it as metadata.
@controller_header("packet_out")
header packet_out_t {
    bit<7>     padding;
    port_num_t egress_port;
}

#endif
