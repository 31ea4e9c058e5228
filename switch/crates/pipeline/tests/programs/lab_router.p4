// The router that the bench measures and tests forward packets with: every step a lab router
// takes, in one file, so that its figures do not change with the kit's own program.
//
//   parse -> checksum -> classify (ternary) -> routes (LPM) -> next hop (exact) -> TTL
//   queue -> queueing metadata to a register -> checksum -> deparse

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<6>  dscp;
    bit<2>  ecn;
    bit<16> total_len;
    bit<16> identification;
    bit<3>  flags;
    bit<13> frag_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> hdr_checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

header ports_t {
    bit<16> src_port;
    bit<16> dst_port;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    ports_t    ports;
}

struct metadata_t {
    bit<16> next_hop;
}

parser parse_packet(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x0800: parse_ipv4;
            default: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.protocol) {
            (5, 6): parse_ports;
            (5, 17): parse_ports;
            default: accept;
        }
    }
    state parse_ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

control verify_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr },
            hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    direct_counter(CounterType.packets_and_bytes) route_traffic;

    action drop() {
        mark_to_drop(standard_metadata);
    }
    action set_class(bit<3> class) {
        standard_metadata.priority = class;
    }
    action set_next_hop(bit<16> next_hop) {
        meta.next_hop = next_hop;
    }
    action forward(bit<9> port, bit<48> src_addr, bit<48> dst_addr) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    table classes {
        key = {
            hdr.ipv4.dscp: ternary;
            hdr.ipv4.protocol: ternary;
            hdr.ports.dst_port: ternary;
        }
        actions = { set_class; NoAction; }
        default_action = NoAction();
    }
    table routes {
        key = { hdr.ipv4.dst_addr: lpm; }
        actions = { set_next_hop; drop; }
        default_action = drop();
        counters = route_traffic;
        size = 16384;
    }
    table next_hops {
        key = { meta.next_hop: exact; }
        actions = { forward; drop; }
        default_action = drop();
    }

    apply {
        if (hdr.ipv4.isValid() && standard_metadata.checksum_error == 0 && hdr.ipv4.ttl > 1) {
            classes.apply();
            if (routes.apply().hit) {
                next_hops.apply();
            }
        } else {
            drop();
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    register<bit<32>>(512) longest_wait;
    bit<32> longest;

    apply {
        longest_wait.read(longest, (bit<32>) standard_metadata.egress_port);
        if (standard_metadata.deq_timedelta > longest) {
            longest_wait.write((bit<32>) standard_metadata.egress_port,
                               standard_metadata.deq_timedelta);
        }
        if (standard_metadata.enq_qdepth > 40 && hdr.ipv4.ecn != 0) {
            hdr.ipv4.ecn = 3;
        }
    }
}

control update_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr },
            hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

control deparse_packet(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ports);
    }
}

V1Switch(parse_packet(), verify_checksums(), ingress(), egress(), update_checksums(),
         deparse_packet()) main;
