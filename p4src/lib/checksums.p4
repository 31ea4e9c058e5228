// The IPv4 header checksum: verified on the way in, computed on the way out.
//
// v1model says of a wrong checksum only standard_metadata.checksum_error = 1; whoever routes must
// look at it. A packet that a program damages on purpose keeps the checksum the program gave it
// only if the program does not include this file.

#ifndef VITRINE_LIB_CHECKSUMS_P4
#define VITRINE_LIB_CHECKSUMS_P4

#include "parsers.p4"

#define IPV4_CHECKSUM_FIELDS                                            \
    { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn,      \
      hdr.ipv4.total_len, hdr.ipv4.identification, hdr.ipv4.reserved,   \
      hdr.ipv4.dont_fragment, hdr.ipv4.more_fragments,                  \
      hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,            \
      hdr.ipv4.src_addr, hdr.ipv4.dst_addr }

control verify_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(), IPV4_CHECKSUM_FIELDS,
                        hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

control update_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(), IPV4_CHECKSUM_FIELDS,
                        hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

#endif
