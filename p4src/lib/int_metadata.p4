// In-band telemetry's metadata on a packet while it is inside the router.
//
// A report is a copy of the packet, made when the packet leaves. The copy goes through a queue and
// through egress itself, so its facts about the packet are kept in `int_report_t`, whose fields
// travel with the copy. The packet's INT headers are among them: the sink takes them out of the
// packet and puts them back into the copy.

#ifndef VITRINE_LIB_INT_METADATA_P4
#define VITRINE_LIB_INT_METADATA_P4

#include "headers.p4"
#include "int_headers.p4"

#ifndef INT_MARKER_DSCP
#define INT_MARKER_DSCP 0x17
#endif

// The index of the list of fields that a copy takes along.
const bit<8> INT_REPORT_FIELDS = 7;

// The watchlist's decision in ingress.
struct int_watch_t {
    // The packet's flow is watched: drops and congestion of it are reported.
    bit<1>  watched;
    // This node puts the INT headers in.
    bit<1>  source;
    // INT_TYPE_MD, INT_TYPE_MX; 0 with `source` 0: every node reports by itself (INT-XD).
    bit<4>  int_type;
    bit<1>  postcard;
    bit<5>  hop_words;
    bit<8>  remaining_hops;
    bit<16> bitmap;
    bit<16> domain_id;
}

// This node's metadata on the packet. Times in nanoseconds, sizes in bytes, utilisation in
// hundredths of a percent; unknown values are all ones.
struct int_hop_t {
    bit<16> ingress_port;
    bit<16> egress_port;
    bit<32> hop_latency;
    bit<8>  queue_id;
    bit<24> queue_occupancy;
    bit<64> ingress_time;
    bit<64> egress_time;
    bit<32> utilisation;
    bit<24> buffer_occupancy;
    // The instructions that this switch can follow.
    bit<16> available;
}

// Whether a report is made, what it says, and the headers that the packet had.
struct int_report_t {
    bit<1>    dropped;
    bit<1>    congested;
    bit<1>    tracked;
    bit<16>   bitmap;
    bit<16>   domain_id;
    bit<8>    drop_reason;
    // The INT headers; `int_words` is their length behind the shim, 0 if there were none.
    bit<8>    int_words;
    bit<32>   shim;
    bit<96>   int_header;
    bit<1024> stack_32;
    bit<512>  stack_16;
    bit<256>  stack_8;
    bit<128>  stack_4;
    bit<64>   stack_2;
    bit<32>   stack_1;
    // Fields of the other headers as they were while the INT headers were in the packet.
    bit<6>    dscp;
    bit<16>   ip_length;
    bit<16>   udp_length;
    bit<16>   l4_dst_port;
    bit<16>   l4_checksum;
}

// The words that this node puts into the packet, as on the wire; 0 where it puts none. They are
// kept here because a checksum must not read headers that are not there: see control/int/repair.p4.
struct int_put_t {
    bit<32> node_id;
    bit<32> ports;
    bit<32> hop_latency;
    bit<32> queue;
    bit<64> ingress_time;
    bit<64> egress_time;
    bit<64> interfaces;
    bit<32> utilisation;
    bit<32> buffer;
    bit<32> complement;
}

// Complements of the sums of INT's words that are taken out of the packet, and that are put in.
struct int_repair_t {
    bit<16> taken;
    bit<16> put;
    bit<16> old_length;
    bit<16> new_length;
    bit<16> dst_port;
}

struct int_metadata_t {
    int_watch_t watch;
    int_put_t put;
    int_repair_t repair;
    @field_list(INT_REPORT_FIELDS)
    int_hop_t hop;
    @field_list(INT_REPORT_FIELDS)
    int_report_t report;
    // The packet's DSCP, of either IP version.
    bit<6>  dscp;
    // Words of the stack that the parser found; what is longer than it can hold stays payload.
    bit<8>  stack_words;
    bit<1>  stack_parsed;
    // This node's configuration.
    bit<32> node_id;
    bit<32> report_session;
    bit<1>  egress_is_edge;
    // This packet is a copy that becomes a report.
    bit<1>  send_report;
    bit<16> mtu;
    // Bytes that were put in (or, as a negative number, taken out).
    bit<16> growth_bytes;
}

#endif
