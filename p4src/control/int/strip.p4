// Takes INT out of a packet that leaves the domain: what goes on is what the source host sent.
//
// The copy that becomes the report needs what is taken out, and the copy has the headers that the
// packet has at the end of egress. So the INT headers move to metadata, which travel with the copy.
//
// Reads:  hdr.int_*.
// Writes: meta.telemetry.report, .growth_bytes and .repair; makes hdr.int_* invalid.
// Apply in egress at the edge; `repair` must follow.

#ifndef VITRINE_CONTROL_INT_STRIP_P4
#define VITRINE_CONTROL_INT_STRIP_P4

#include "../../lib/parsers.p4"
#include "marker.p4"
#include "sums.p4"

control int_strip(inout headers_t hdr, inout metadata_t meta) {
    action keep_headers() {
        meta.telemetry.report.int_words = hdr.int_shim.length_words;
        meta.telemetry.growth_bytes = -(4 + 4 * (bit<16>)hdr.int_shim.length_words);
        meta.telemetry.report.shim = hdr.int_shim.int_type ++ hdr.int_shim.next_protocol_type
            ++ hdr.int_shim.reserved ++ hdr.int_shim.length_words ++ hdr.int_shim.original;
        meta.telemetry.report.int_header = hdr.int_header.version ++ hdr.int_header.discard
            ++ hdr.int_header.hops_exceeded ++ hdr.int_header.mtu_exceeded
            ++ hdr.int_header.reserved ++ hdr.int_header.hop_words
            ++ hdr.int_header.remaining_hops ++ hdr.int_header.bitmap
            ++ hdr.int_header.domain_id ++ hdr.int_header.domain_bitmap
            ++ hdr.int_header.domain_flags;
    }

    action take_out() {
        hdr.int_shim.setInvalid();
        hdr.int_header.setInvalid();
        hdr.int_stack_32.setInvalid();
        hdr.int_stack_16.setInvalid();
        hdr.int_stack_8.setInvalid();
        hdr.int_stack_4.setInvalid();
        hdr.int_stack_2.setInvalid();
        hdr.int_stack_1.setInvalid();
    }

    apply {
        // The fields that change with INT, as they are while it is in.
        if (hdr.ipv4.isValid()) {
            meta.telemetry.report.dscp = hdr.ipv4.dscp;
            meta.telemetry.report.ip_length = hdr.ipv4.total_len;
        } else if (hdr.ipv6.isValid()) {
            meta.telemetry.report.dscp = hdr.ipv6.dscp;
            meta.telemetry.report.ip_length = hdr.ipv6.payload_len;
        }
        if (hdr.udp.isValid()) {
            meta.telemetry.report.udp_length = hdr.udp.length_bytes;
            meta.telemetry.report.l4_dst_port = hdr.udp.dst_port;
            meta.telemetry.report.l4_checksum = hdr.udp.checksum;
        } else if (hdr.tcp.isValid()) {
            meta.telemetry.report.l4_checksum = hdr.tcp.checksum;
        }
        if (hdr.int_shim.isValid() && hdr.int_header.isValid()) {
            keep_headers();
            int_unmark.apply(hdr);
        }
        if (hdr.int_stack_32.isValid()) { meta.telemetry.report.stack_32 = hdr.int_stack_32.words; }
        if (hdr.int_stack_16.isValid()) { meta.telemetry.report.stack_16 = hdr.int_stack_16.words; }
        if (hdr.int_stack_8.isValid()) { meta.telemetry.report.stack_8 = hdr.int_stack_8.words; }
        if (hdr.int_stack_4.isValid()) { meta.telemetry.report.stack_4 = hdr.int_stack_4.words; }
        if (hdr.int_stack_2.isValid()) { meta.telemetry.report.stack_2 = hdr.int_stack_2.words; }
        if (hdr.int_stack_1.isValid()) { meta.telemetry.report.stack_1 = hdr.int_stack_1.words; }
        hash(meta.telemetry.repair.taken, HashAlgorithm.csum16, 16w0, { INT_TAKEN_WORDS },
             ALL_OF_16_BITS);
        take_out();
    }
}

#endif
