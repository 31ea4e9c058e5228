// Parsers and deparsers of the kit's router for PSA: Ethernet and IPv4, and frames of the controller.
//
//   ingress, from PSA_PORT_CPU:  packet_out, and the frame behind it as payload
//            from a port:        ethernet -> ipv4 of five words, its checksum verified
//   egress:                      all of it is payload; what ingress knows comes along as normal_meta
//
// A parser error does not drop in PSA either: ingress sees it in istd.parser_error. The packet is
// dropped anyway, because in PSA a packet goes nowhere until the program says where.
//
// The checksum is PSA's own, by InternetChecksum in a parser and a deparser: there is no block for it.

#ifndef VITRINE_LIB_PSA_FRAMES_P4
#define VITRINE_LIB_PSA_FRAMES_P4

#include <core.p4>
#include <psa.p4>
#include "headers.p4"

struct headers_t {
    packet_in_t  packet_in;
    packet_out_t packet_out;
    ethernet_t   ethernet;
    ipv4_t       ipv4;
}

// Egress's information on a packet that ingress has metered.
struct tag_t {
    bit<8> customer;  // the controller's number of the customer; 0 for none
    bit<2> colour;
}

struct metadata_t {
    tag_t tag;
}

// Nothing travels with clones, or with packets that begin again.
struct nothing_t {}

error {
    NotIpv4,       // another version, or a header of more than five words
    WrongChecksum
}

// The fields that an IPv4 header's checksum covers.
#define IPV4_SUMMED(ipv4) {                                             \
    ipv4.version, ipv4.ihl, ipv4.dscp, ipv4.ecn, ipv4.total_len,        \
    ipv4.identification, ipv4.reserved, ipv4.dont_fragment,             \
    ipv4.more_fragments, ipv4.frag_offset, ipv4.ttl, ipv4.protocol,     \
    ipv4.src_addr, ipv4.dst_addr }

parser parse_ingress(packet_in packet,
                     out headers_t hdr,
                     inout metadata_t meta,
                     in psa_ingress_parser_input_metadata_t istd,
                     in nothing_t resubmit_meta,
                     in nothing_t recirculate_meta) {
    InternetChecksum() sum;

    state start {
        transition select(istd.ingress_port) {
            PSA_PORT_CPU: parse_packet_out;
            default: parse_ethernet;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.packet_out);
        transition accept;
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        // Look before extracting, so that a packet we cannot read leaves hdr.ipv4 invalid.
        verify(packet.lookahead<bit<8>>() == 0x45, error.NotIpv4);
        packet.extract(hdr.ipv4);
        sum.clear();
        sum.add(IPV4_SUMMED(hdr.ipv4));
        verify(sum.get() == hdr.ipv4.hdr_checksum, error.WrongChecksum);
        transition accept;
    }
}

control deparse_ingress(packet_out packet,
                        out nothing_t clone_i2e_meta,
                        out nothing_t resubmit_meta,
                        out tag_t normal_meta,
                        inout headers_t hdr,
                        in metadata_t meta,
                        in psa_ingress_output_metadata_t istd) {
    InternetChecksum() sum;

    apply {
        normal_meta = meta.tag;
        if (hdr.ipv4.isValid()) {
            sum.clear();
            sum.add(IPV4_SUMMED(hdr.ipv4));
            hdr.ipv4.hdr_checksum = sum.get();
        }
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

parser parse_egress(packet_in packet,
                    out headers_t hdr,
                    inout metadata_t meta,
                    in psa_egress_parser_input_metadata_t istd,
                    in tag_t normal_meta,
                    in nothing_t clone_i2e_meta,
                    in nothing_t clone_e2e_meta) {
    state start {
        meta.tag = normal_meta;
        transition accept;
    }
}

control deparse_egress(packet_out packet,
                       out nothing_t clone_e2e_meta,
                       out nothing_t recirculate_meta,
                       inout headers_t hdr,
                       in metadata_t meta,
                       in psa_egress_output_metadata_t istd,
                       in psa_egress_deparser_input_metadata_t edstd) {
    apply { }
}

#endif
