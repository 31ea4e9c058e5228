// The common part of all telemetry systems: headers, routing, and one report format.
//
//   parse -> ingress: routing -> queues -> egress: telemetry -> deparse
//                                                   | send_report() clones the packet
//                                                   v
//                             the clone becomes a report: system_report_t, no payload
//
// A system is one control, `telemetry`, between the includes of this file and of main.p4. All
// systems report through system_report_t, so their bytes compare.

#ifndef VITRINE_SCORE_BASE_P4
#define VITRINE_SCORE_BASE_P4

// Times of programs are those at 1 Gb/s; on a line of 10 Gb/s windows are 2^3 times shorter.
#ifndef FASTER_BITS
#define FASTER_BITS 0
#endif

#include <core.p4>
#include <v1model.p4>
#include <lib/headers.p4>
#include <lib/score_report.p4>

// The clone session that leads to the controller.
const bit<32> REPORTS = 1;
const bit<32> EGRESS_CLONE = 2;
const bit<32> DROPPED = 7;
const bit<8>  REPORT_FIELDS = 1;
const bit<32> REPORT_BYTES = 34;
// A packet of a system's own between the routers; IEEE 802's type for local experiments.
const bit<16> ETHERTYPE_TRACE = 0x88b5;

struct headers_t {
    system_report_t report;
    ethernet_t      ethernet;
    ipv4_t          ipv4;
}

// Copied into the report; set by `describe` and by the parser.
struct metadata_t {
    @field_list(REPORT_FIELDS) bit<16> src_port;
    @field_list(REPORT_FIELDS) bit<16> dst_port;
    @field_list(REPORT_FIELDS) bit<64> time_ns;
    @field_list(REPORT_FIELDS) bit<32> depth_bytes;
    @field_list(REPORT_FIELDS) bit<32> wait_ns;
    @field_list(REPORT_FIELDS) bit<32> packets;
    @field_list(REPORT_FIELDS) bit<8>  reason;
    // The TCP header without options, and of a SYN 20 bytes of options; else 0.
    bit<160> tcp;
    bit<160> tcp_options;
}

parser parse_packet(packet_in packet,
                    out headers_t hdr,
                    inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_TRACE: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        // Hosts of the scoreboard send no options and no fragments.
        bit<32> ports = packet.lookahead<bit<32>>();
        meta.src_port = ports[31:16];
        meta.dst_port = ports[15:0];
        transition select(hdr.ethernet.ether_type, hdr.ipv4.protocol) {
            (ETHERTYPE_IPV4, IP_PROTOCOL_TCP): look_at_tcp;
            default: accept;
        }
    }

    state look_at_tcp {
        meta.tcp = packet.lookahead<bit<160>>();
        // Header length in words, reserved bits, and flags: a SYN of 40 bytes.
        transition select(meta.tcp[63:48]) {
            0xa002 &&& 0xf002: look_at_options;
            default: accept;
        }
    }

    state look_at_options {
        bit<320> both = packet.lookahead<bit<320>>();
        meta.tcp_options = both[159:0];
        transition accept;
    }
}

control verify_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control update_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
                        { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn,
                          hdr.ipv4.total_len, hdr.ipv4.identification, hdr.ipv4.reserved,
                          hdr.ipv4.dont_fragment, hdr.ipv4.more_fragments, hdr.ipv4.frag_offset,
                          hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr },
                        hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

control deparse_packet(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.report);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

// Longest prefix match; the kit's controller writes the entries.
control routing(inout headers_t hdr, inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action set_next_hop(port_num_t port, mac_addr_t src_addr, mac_addr_t dst_addr) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    table ipv4_routes {
        key = {
            hdr.ipv4.dst_addr: lpm;
        }
        actions = {
            set_next_hop;
            drop;
        }
        default_action = drop();
        size = 64;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            ipv4_routes.apply();
        } else {
            drop();
        }
    }
}

// The clone of a reported packet becomes the report; its frame is cut off.
control become_report(inout headers_t hdr,
                      in metadata_t meta,
                      inout standard_metadata_t standard_metadata) {
    apply {
        hdr.report.setValid();
        hdr.report.time_ns = meta.time_ns;
        hdr.report.depth_bytes = meta.depth_bytes;
        hdr.report.wait_ns = meta.wait_ns;
        hdr.report.packets = meta.packets;
        hdr.report.reason = meta.reason;
        hdr.report.src_port = meta.src_port;
        hdr.report.dst_port = meta.dst_port;
        if (hdr.ipv4.isValid()) {
            hdr.report.src_addr = hdr.ipv4.src_addr;
            hdr.report.dst_addr = hdr.ipv4.dst_addr;
            hdr.report.protocol = hdr.ipv4.protocol;
        }
        truncate(REPORT_BYTES);
    }
}

// Describes the packet that leaves its queue; `send_report` sends it to the controller.
action describe(inout metadata_t meta, in standard_metadata_t standard_metadata) {
    meta.time_ns = standard_metadata.egress_time_ns;
    meta.depth_bytes = standard_metadata.deq_qdepth_bytes;
    meta.wait_ns = (bit<32>)(standard_metadata.egress_time_ns - standard_metadata.ingress_time_ns);
    meta.packets = 1;
}

// The fields of a flow, for hash().
#define FLOW(hdr, meta) hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, \
                        meta.src_port, meta.dst_port

action send_report() {
    clone_preserving_field_list(CloneType.E2E, REPORTS, REPORT_FIELDS);
}

#endif
