// ECMP by a hash of the flow and its flowlet.

#include <core.p4>
#include <v1model.p4>

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8>  TCP = 6;
const bit<8>  UDP = 17;

// After a pause of more than this, in microseconds, a flow may take another path.
const bit<48> PAUSE = 20000;

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

// TCP and UDP begin alike.
header ports_t {
    bit<16> src;
    bit<16> dst;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    ports_t    ports;
}

struct metadata_t {
    // How many paths lead to the packet's destination; 0: it is no matter of paths.
    bit<16> count;
    // The path that it takes, below `count`.
    bit<16> slot;
}

parser parse_packet(packet_in packet, out headers_t hdr, inout metadata_t meta,
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
        transition select(hdr.ipv4.protocol) {
            TCP: parse_ports;
            UDP: parse_ports;
            default: accept;
        }
    }

    state parse_ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

// Forwarding leaves TTL and checksum alone: first-router has had its turn.
control ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action forward(bit<9> port, bit<48> src_addr, bit<48> dst_addr) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
    }

    // Several paths are equally good; they have the slots 0 to count - 1.
    action spread(bit<16> count) {
        meta.count = count;
    }

    table routes {
        key = { hdr.ipv4.dst_addr: lpm; }
        actions = { forward; spread; drop; }
        default_action = drop();
    }

    // The controller says where a slot leads, and says something else when a path is cut.
    table paths {
        key = { meta.slot: exact; }
        actions = { forward; drop; }
        default_action = drop();
    }

    register<bit<48>>(1024) seen_of;
    register<bit<16>>(1024) flowlet_of;

    apply {
        if (!hdr.ipv4.isValid()) {
            mark_to_drop(standard_metadata);
            return;
        }
        meta.count = 0;
        routes.apply();
        if (meta.count > 0) {
            bit<16> src_port = 0;
            bit<16> dst_port = 0;
            if (hdr.ports.isValid()) {
                src_port = hdr.ports.src;
                dst_port = hdr.ports.dst;
            }

            bit<32> cell;
            hash(cell, HashAlgorithm.crc32, 32w0,
                 { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, src_port, dst_port },
                 64w1024);
            bit<48> now = standard_metadata.ingress_global_timestamp;
            bit<48> seen;
            bit<16> flowlet;
            seen_of.read(seen, cell);
            flowlet_of.read(flowlet, cell);
            if (now - seen > PAUSE) {
                flowlet = flowlet + 1;
                flowlet_of.write(cell, flowlet);
                seen_of.write(cell, now);
            }

            hash(meta.slot, HashAlgorithm.crc32, 16w0,
                 { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, src_port, dst_port,
                   flowlet },
                 (bit<32>)meta.count);
            paths.apply();
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply { }
}

control update_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ports);
    }
}

V1Switch(parse_packet(), verify_nothing(), ingress(), egress(), update_nothing(), deparse()) main;
