// A trail: each router on the path adds a hop to the datagrams of a probe.
//
//   ethernet | ipv4, dscp = TRAIL_DSCP | udp | trail: how many hops | hop | hop ... | the datagram's data
//
// The newest hop is the first. The program chooses its content: it takes one of hops.p4 as `hop_t`,
// of HOP_BYTES bytes, in front of this file. A probe is a UDP datagram for TRAIL_PORT; the first router on its way
// puts an empty trail in. The UDP checksum is 0, which in IPv4 says that there is none.
//
// RFC 2474 leaves code points that end in 01 to experiments.

#ifndef VITRINE_LIB_TRAIL_P4
#define VITRINE_LIB_TRAIL_P4

#include <core.p4>
#include <v1model.p4>
#include "headers.p4"

const bit<6>  TRAIL_DSCP = 1;
const bit<16> TRAIL_PORT = 5005;
const bit<16> TRAIL_BYTES = 2;
// A longer path has a loop, so trails end here.
const bit<16> HOPS_MAX = 8;
const bit<4>  IHL_WITHOUT_OPTIONS = 5;

header trail_t {
    bit<16> hop_count;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    udp_t      udp;
    trail_t    trail;
    hop_t[8]   hops;
}

struct metadata_t {
    bit<16> hops_left;
}

parser parse_packet(packet_in packet,
                    out headers_t hdr,
                    inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (IHL_WITHOUT_OPTIONS, 0, IP_PROTOCOL_UDP): parse_udp;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.dst_port, hdr.ipv4.dscp) {
            (TRAIL_PORT, TRAIL_DSCP): parse_trail;
            default: accept;
        }
    }

    state parse_trail {
        packet.extract(hdr.trail);
        meta.hops_left = hdr.trail.hop_count;
        transition select(meta.hops_left) {
            0: accept;
            default: parse_hop;
        }
    }

    state parse_hop {
        packet.extract(hdr.hops.next);
        meta.hops_left = meta.hops_left - 1;
        transition select(meta.hops_left) {
            0: accept;
            default: parse_hop;
        }
    }
}

// An empty trail, where a probe has none yet. Then makes room for one more hop, which is valid and
// whose fields are still to be written; if the trail is full already there is none.
control trail(inout headers_t hdr) {
    apply {
        if (hdr.udp.isValid() && hdr.udp.dst_port == TRAIL_PORT) {
            if (!hdr.trail.isValid()) {
                hdr.trail.setValid();
                hdr.trail.hop_count = 0;
                hdr.ipv4.dscp = TRAIL_DSCP;
                hdr.ipv4.total_len = hdr.ipv4.total_len + TRAIL_BYTES;
                hdr.udp.length_bytes = hdr.udp.length_bytes + TRAIL_BYTES;
                hdr.udp.checksum = 0;
            }
            if (hdr.trail.hop_count < HOPS_MAX) {
                hdr.hops.push_front(1);
                hdr.hops[0].setValid();
                hdr.trail.hop_count = hdr.trail.hop_count + 1;
                hdr.ipv4.total_len = hdr.ipv4.total_len + HOP_BYTES;
                hdr.udp.length_bytes = hdr.udp.length_bytes + HOP_BYTES;
            }
        }
    }
}

// IPv4 routing as in classics/basic.p4.
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
        size = 1024;
    }

    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1) {
            ipv4_routes.apply();
        } else {
            drop();
        }
    }
}

control verify_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control update_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == IHL_WITHOUT_OPTIONS,
                        { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn,
                          hdr.ipv4.total_len, hdr.ipv4.identification, hdr.ipv4.reserved,
                          hdr.ipv4.dont_fragment, hdr.ipv4.more_fragments, hdr.ipv4.frag_offset,
                          hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr },
                        hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

control deparse_packet(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

#endif
