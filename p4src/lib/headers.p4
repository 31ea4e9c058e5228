// Every header of the kit, defined once.
//
// Field names are the RFCs' words in snake_case. A program takes the headers it needs by putting
// them into its own `headers_t`; no program and no lab defines a header again.

#ifndef VITRINE_LIB_HEADERS_P4
#define VITRINE_LIB_HEADERS_P4

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<9>  port_num_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;

const bit<8> IP_PROTOCOL_TCP = 6;
const bit<8> IP_PROTOCOL_UDP = 17;

// IEEE 802.3, without preamble and frame check sequence: a port neither sees nor sends those.
header ethernet_t {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16>    ether_type;
}

// RFC 791, without options: `ihl` > 5 leaves the options in the payload, so the parser refuses
// such packets (see lib/parsers.p4).
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

#endif
