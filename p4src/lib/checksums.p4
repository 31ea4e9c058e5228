// The IPv4 header checksum: verified on the way in, computed on the way out.
//
// After a wrong checksum v1model only sets standard_metadata.checksum_error = 1; a program that
// routes must test it. A packet that a program damages on purpose keeps the checksum the program
// gave it only if the program does not include this file.

#ifndef VITRINE_LIB_CHECKSUMS_P4
#define VITRINE_LIB_CHECKSUMS_P4

#include "parsers.p4"

#define IPV4_FIELDS(ipv4)                                               \
    ipv4.version, ipv4.ihl, ipv4.dscp, ipv4.ecn, ipv4.total_len,        \
    ipv4.identification, ipv4.reserved, ipv4.dont_fragment,             \
    ipv4.more_fragments, ipv4.frag_offset, ipv4.ttl, ipv4.protocol,     \
    ipv4.src_addr, ipv4.dst_addr

#define IPV4_CHECKSUM_FIELDS(ipv4)               { IPV4_FIELDS(ipv4) }
#define IPV4_CHECKSUM_FIELDS_WITH(ipv4, options) { IPV4_FIELDS(ipv4), options }

// The options are counted where the packet has them: of a header that is not there a list must name
// nothing.
control verify_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && !hdr.ipv4_options.isValid(),
                        IPV4_CHECKSUM_FIELDS(hdr.ipv4),
                        hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
        verify_checksum(hdr.ipv4_options.isValid(),
                        IPV4_CHECKSUM_FIELDS_WITH(hdr.ipv4, hdr.ipv4_options.options),
                        hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

control update_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && !hdr.ipv4_options.isValid(),
                        IPV4_CHECKSUM_FIELDS(hdr.ipv4),
                        hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
        update_checksum(hdr.ipv4_options.isValid(),
                        IPV4_CHECKSUM_FIELDS_WITH(hdr.ipv4, hdr.ipv4_options.options),
                        hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

#endif
