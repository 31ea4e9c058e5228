// Lengths and checksums after INT was put in or taken out.
//
//   remember: nothing taken, nothing put, the UDP port  ->  meta.telemetry.repair
//   insert or strip: sum what is taken out and put in
//   repair: IP and UDP length; TCP or UDP checksum = old - words taken + words put
//
// The checksum is brought up to date, not computed anew: a packet whose checksum was wrong stays as
// wrong as it was. A UDP checksum of 0 means none and stays 0.
//
// Reads:  meta.telemetry.growth_bytes. Writes: hdr.{ipv4,ipv6,udp,tcp}, meta.telemetry.repair.

#ifndef VITRINE_CONTROL_INT_REPAIR_P4
#define VITRINE_CONTROL_INT_REPAIR_P4

#include "../../lib/parsers.p4"
#include "sums.p4"

control int_remember(in headers_t hdr, inout metadata_t meta) {
    apply {
        // The complement of the sum of nothing.
        meta.telemetry.repair.taken = 0xffff;
        meta.telemetry.repair.put = 0xffff;
        meta.telemetry.repair.dst_port = 0;
        if (hdr.udp.isValid()) {
            meta.telemetry.repair.dst_port = hdr.udp.dst_port;
        }
    }
}

control int_repair(inout headers_t hdr, inout metadata_t meta) {
    apply {
        bit<16> checksum = 0;
        // The part in TCP's and UDP's pseudo-header, and the length.
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
                 { ~hdr.tcp.checksum, meta.telemetry.repair.taken, ~meta.telemetry.repair.put,
                   ~meta.telemetry.repair.old_length, meta.telemetry.repair.new_length },
                 ALL_OF_16_BITS);
            hdr.tcp.checksum = checksum;
        } else if (hdr.udp.isValid()) {
            bit<16> old_udp_length = hdr.udp.length_bytes;
            hdr.udp.length_bytes = hdr.udp.length_bytes + meta.telemetry.growth_bytes;
            if (hdr.udp.checksum != 0) {
                // The length counts twice: in the pseudo-header and in UDP's own.
                hash(checksum, HashAlgorithm.csum16, 16w0,
                     { ~hdr.udp.checksum, meta.telemetry.repair.taken, ~meta.telemetry.repair.put,
                       ~meta.telemetry.repair.old_length, meta.telemetry.repair.new_length,
                       ~old_udp_length, hdr.udp.length_bytes,
                       ~meta.telemetry.repair.dst_port, hdr.udp.dst_port },
                     ALL_OF_16_BITS);
                // A computed 0 is sent as its other form: 0 would say that there is none.
                hdr.udp.checksum = checksum == 0 ? 16w0xffff : checksum;
            }
        }
    }
}

#endif
