// The headers of in-band telemetry: INT 2.1 (shim, INT header, metadata, stack) and report 2.0.
//
//   Ethernet | IP | TCP or UDP | shim | INT header | this node's metadata | stack of the nodes before
//
// Each instruction of the bitmap has a header of its own, so a node adds its metadata by making
// the headers of the set bits valid. The stack of the nodes before is of any length; it is kept in
// six headers of 1 to 32 words, valid as the bits of its length are: 19 words are 16 + 2 + 1.

#ifndef VITRINE_LIB_INT_HEADERS_P4
#define VITRINE_LIB_INT_HEADERS_P4

#include "headers.p4"

const bit<4> INT_TYPE_MD = 1;
const bit<4> INT_TYPE_MX = 3;
const bit<4> INT_VERSION = 2;
// The shim's length counts the words behind it: these of the INT header, and the stack's.
const bit<8> INT_HEADER_WORDS = 3;
// Shim and INT header.
const bit<16> INT_FIXED_BYTES = 16;

// Bits of the instruction bitmap as masks; bit 0 of the specification is the most significant.
const bit<16> INT_NODE_ID             = 0x8000;
const bit<16> INT_PORTS               = 0x4000;
const bit<16> INT_HOP_LATENCY         = 0x2000;
const bit<16> INT_QUEUE               = 0x1000;
const bit<16> INT_INGRESS_TIME        = 0x0800;
const bit<16> INT_EGRESS_TIME         = 0x0400;
const bit<16> INT_INTERFACES          = 0x0200;
const bit<16> INT_UTILISATION         = 0x0100;
const bit<16> INT_BUFFER              = 0x0080;
const bit<16> INT_CHECKSUM_COMPLEMENT = 0x0001;
// The same bit of a report: queue and reason of a drop.
const bit<16> INT_REPORT_DROP         = 0x0001;
// A node that does not know these bits adds nothing.
const bit<16> INT_RESERVED_BITS       = 0x007e;

const bit<4> REPORT_VERSION = 2;
const bit<4> REPORT_TYPE_INT = 1;
const bit<4> REPORT_INNER_ETHERNET = 3;
// A report that goes on to the end of its datagram.
const bit<8> REPORT_LENGTH_TO_END = 0xff;

const bit<16> ETHERNET_BYTES = 14;
const bit<16> IPV4_BYTES = 20;
const bit<16> UDP_BYTES = 8;

// RFC 9293, with its options.
header tcp_t {
    bit<16>     src_port;
    bit<16>     dst_port;
    bit<32>     sequence;
    bit<32>     acknowledgment;
    bit<4>      header_words;
    bit<4>      reserved;
    bit<8>      flags;
    bit<16>     window;
    bit<16>     checksum;
    bit<16>     urgent_pointer;
    varbit<320> options;
}

// Announces INT and keeps what the marker replaced: with next_protocol_type 0 the DSCP (in bits 7
// to 2 of `original`), with 1 the UDP port.
header int_shim_t {
    bit<4>  int_type;
    bit<2>  next_protocol_type;
    bit<2>  reserved;
    bit<8>  length_words;
    bit<16> original;
}

header int_header_t {
    bit<4>  version;
    bit<1>  discard;
    bit<1>  hops_exceeded;
    bit<1>  mtu_exceeded;
    bit<12> reserved;
    bit<5>  hop_words;
    bit<8>  remaining_hops;
    bit<16> bitmap;
    bit<16> domain_id;
    bit<16> domain_bitmap;
    bit<16> domain_flags;
}

// The metadata of one node, in the order of the bitmap's bits.
header int_node_id_t      { bit<32> node_id; }
header int_ports_t        { bit<16> ingress_port; bit<16> egress_port; }
header int_hop_latency_t  { bit<32> hop_latency; }
header int_queue_t        { bit<8> queue_id; bit<24> occupancy; }
header int_ingress_time_t { bit<64> ingress_time; }
header int_egress_time_t  { bit<64> egress_time; }
header int_interfaces_t   { bit<32> ingress_interface; bit<32> egress_interface; }
header int_utilisation_t  { bit<32> egress_utilisation; }
header int_buffer_t       { bit<8> buffer_id; bit<24> occupancy; }
header int_complement_t   { bit<32> checksum_complement; }

// Parts of the stack. This node need not read their contents.
header int_stack_1_t  { bit<32>   words; }
header int_stack_2_t  { bit<64>   words; }
header int_stack_4_t  { bit<128>  words; }
header int_stack_8_t  { bit<256>  words; }
header int_stack_16_t { bit<512>  words; }
header int_stack_32_t { bit<1024> words; }

// Once a datagram: who reports, and which of its reports this is.
header report_group_t {
    bit<4>  version;
    bit<6>  hardware_id;
    bit<22> sequence;
    bit<32> node_id;
}

header report_t {
    bit<4>  report_type;
    bit<4>  inner_type;
    bit<8>  length_words;
    bit<8>  metadata_words;
    bit<1>  dropped;
    bit<1>  congested;
    bit<1>  tracked;
    bit<1>  intermediate;
    bit<4>  reserved;
    bit<16> bitmap;
    bit<16> domain_id;
    bit<16> domain_bitmap;
    bit<16> domain_status;
}

header report_drop_t {
    bit<8>  queue_id;
    bit<8>  reason;
    bit<16> padding;
}

// INT's part of a program's `headers_t`, and the order in which it leaves.
#define INT_HEADERS                            \
    tcp_t              tcp;                    \
    udp_t              udp;                    \
    int_shim_t         int_shim;               \
    int_header_t       int_header;             \
    int_node_id_t      int_node_id;            \
    int_ports_t        int_ports;              \
    int_hop_latency_t  int_hop_latency;        \
    int_queue_t        int_queue;              \
    int_ingress_time_t int_ingress_time;       \
    int_egress_time_t  int_egress_time;        \
    int_interfaces_t   int_interfaces;         \
    int_utilisation_t  int_utilisation;        \
    int_buffer_t       int_buffer;             \
    int_complement_t   int_complement;         \
    int_stack_32_t     int_stack_32;           \
    int_stack_16_t     int_stack_16;           \
    int_stack_8_t      int_stack_8;            \
    int_stack_4_t      int_stack_4;            \
    int_stack_2_t      int_stack_2;            \
    int_stack_1_t      int_stack_1;            \
    ethernet_t         report_ethernet;        \
    ipv4_t             report_ipv4;            \
    udp_t              report_udp;             \
    report_group_t     report_group;           \
    report_t           report;                 \
    int_ports_t        report_ports;           \
    int_hop_latency_t  report_hop_latency;     \
    int_queue_t        report_queue;           \
    int_ingress_time_t report_ingress_time;    \
    int_egress_time_t  report_egress_time;     \
    int_interfaces_t   report_interfaces;      \
    int_utilisation_t  report_utilisation;     \
    int_buffer_t       report_buffer;          \
    report_drop_t      report_drop;

#define INT_EMIT_REPORT                      \
    packet.emit(hdr.report_ethernet);        \
    packet.emit(hdr.report_ipv4);            \
    packet.emit(hdr.report_udp);             \
    packet.emit(hdr.report_group);           \
    packet.emit(hdr.report);                 \
    packet.emit(hdr.report_ports);           \
    packet.emit(hdr.report_hop_latency);     \
    packet.emit(hdr.report_queue);           \
    packet.emit(hdr.report_ingress_time);    \
    packet.emit(hdr.report_egress_time);     \
    packet.emit(hdr.report_interfaces);      \
    packet.emit(hdr.report_utilisation);     \
    packet.emit(hdr.report_buffer);          \
    packet.emit(hdr.report_drop);

#define INT_EMIT_HEADERS                  \
    packet.emit(hdr.tcp);                 \
    packet.emit(hdr.udp);                 \
    packet.emit(hdr.int_shim);            \
    packet.emit(hdr.int_header);          \
    packet.emit(hdr.int_node_id);         \
    packet.emit(hdr.int_ports);           \
    packet.emit(hdr.int_hop_latency);     \
    packet.emit(hdr.int_queue);           \
    packet.emit(hdr.int_ingress_time);    \
    packet.emit(hdr.int_egress_time);     \
    packet.emit(hdr.int_interfaces);      \
    packet.emit(hdr.int_utilisation);     \
    packet.emit(hdr.int_buffer);          \
    packet.emit(hdr.int_complement);      \
    packet.emit(hdr.int_stack_32);        \
    packet.emit(hdr.int_stack_16);        \
    packet.emit(hdr.int_stack_8);         \
    packet.emit(hdr.int_stack_4);         \
    packet.emit(hdr.int_stack_2);         \
    packet.emit(hdr.int_stack_1);

#endif
