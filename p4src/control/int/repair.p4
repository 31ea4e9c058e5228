// Lengths and checksums after INT was put in or taken out.
//
//   before: sum the INT words that are in the packet  ->  meta.telemetry.repair
//   insert or strip
//   after:  IP and UDP length; TCP or UDP checksum = old - words before + words after
//
// The checksum is brought up to date, not computed anew: a packet whose checksum was wrong stays as
// wrong as it was. A UDP checksum of 0 means none and stays 0.
//
// Sums are those of RFC 1071: csum16 of a list is the complement of its sum, and adding a
// complement takes away. Fields of headers that are not valid take no part in a csum16.
//
// Reads:  meta.telemetry.growth_bytes. Writes: hdr.{ipv4,ipv6,udp,tcp}, meta.telemetry.repair.

#ifndef VITRINE_CONTROL_INT_REPAIR_P4
#define VITRINE_CONTROL_INT_REPAIR_P4

#include "../../lib/parsers.p4"

// Everything of INT that can be in a packet; on the wire these are whole 16-bit words.
#define INT_WORDS                                                                         \
    hdr.int_shim.int_type, hdr.int_shim.next_protocol_type, hdr.int_shim.reserved,            \
    hdr.int_shim.length_words, hdr.int_shim.original,                                     \
    hdr.int_header.version, hdr.int_header.discard, hdr.int_header.hops_exceeded,         \
    hdr.int_header.mtu_exceeded, hdr.int_header.reserved, hdr.int_header.hop_words,       \
    hdr.int_header.remaining_hops, hdr.int_header.bitmap, hdr.int_header.domain_id,       \
    hdr.int_header.domain_bitmap, hdr.int_header.domain_flags,                            \
    hdr.int_node_id.node_id, hdr.int_ports.ingress_port, hdr.int_ports.egress_port,       \
    hdr.int_hop_latency.hop_latency, hdr.int_queue.queue_id, hdr.int_queue.occupancy,     \
    hdr.int_ingress_time.ingress_time, hdr.int_egress_time.egress_time,                   \
    hdr.int_interfaces.ingress_interface, hdr.int_interfaces.egress_interface,            \
    hdr.int_utilisation.egress_utilisation, hdr.int_buffer.buffer_id,                     \
    hdr.int_buffer.occupancy, hdr.int_complement.checksum_complement,                     \
    hdr.int_stack_32.words, hdr.int_stack_16.words, hdr.int_stack_8.words,                \
    hdr.int_stack_4.words, hdr.int_stack_2.words, hdr.int_stack_1.words

// hash() takes its result modulo this, that is: all 16 bits.
const bit<32> ALL_OF_16_BITS = 0x10000;

control int_sum_before(in headers_t hdr, inout metadata_t meta) {
    apply {
        hash(meta.telemetry.repair.words, HashAlgorithm.csum16, 16w0, { INT_WORDS }, ALL_OF_16_BITS);
        meta.telemetry.repair.dst_port = hdr.udp.isValid() ? hdr.udp.dst_port : 0;
    }
}

control int_repair(inout headers_t hdr, inout metadata_t meta) {
    apply {
        bit<16> checksum = 0;
        // What TCP's and UDP's pseudo-header counts, and how long it was.
        if (hdr.ipv4.isValid()) {
            meta.telemetry.repair.old_length = hdr.ipv4.total_len;
            hdr.ipv4.total_len = hdr.ipv4.total_len + meta.telemetry.growth_bytes;
            meta.telemetry.repair.new_length = hdr.ipv4.total_len;
        } else if (hdr.ipv6.isValid()) {
            meta.telemetry.repair.old_length = hdr.ipv6.payload_len;
            hdr.ipv6.payload_len = hdr.ipv6.payload_len + meta.telemetry.growth_bytes;
            meta.telemetry.repair.new_length = hdr.ipv6.payload_len;
        }
        if (hdr.tcp.isValid()) {
            hash(checksum, HashAlgorithm.csum16, 16w0,
                 { ~hdr.tcp.checksum, meta.telemetry.repair.words,
                   ~meta.telemetry.repair.old_length, meta.telemetry.repair.new_length, INT_WORDS },
                 ALL_OF_16_BITS);
            hdr.tcp.checksum = checksum;
        } else if (hdr.udp.isValid()) {
            bit<16> old_udp_length = hdr.udp.length_bytes;
            hdr.udp.length_bytes = hdr.udp.length_bytes + meta.telemetry.growth_bytes;
            if (hdr.udp.checksum != 0) {
                // The length counts twice: in the pseudo-header and in UDP's own.
                hash(checksum, HashAlgorithm.csum16, 16w0,
                     { ~hdr.udp.checksum, meta.telemetry.repair.words,
                       ~meta.telemetry.repair.old_length, meta.telemetry.repair.new_length,
                       ~old_udp_length, hdr.udp.length_bytes,
                       ~meta.telemetry.repair.dst_port, hdr.udp.dst_port, INT_WORDS },
                     ALL_OF_16_BITS);
                // A computed 0 is sent as its other form: 0 would say that there is none.
                hdr.udp.checksum = checksum == 0 ? 16w0xffff : checksum;
            }
        }
    }
}

#endif
