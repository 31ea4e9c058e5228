// Your queue management. As it is, no packet is dropped before its queue is full.
// GAP 1 to GAP 3, all in egress, are left to write.

#include <core.p4>
#include <v1model.p4>

const bit<16> ETHERTYPE_IPV4 = 0x0800;

// Waits above this for an INTERVAL are too long; both in microseconds (RFC 8289, section 4).
const bit<32> TARGET = 5000;
const bit<48> INTERVAL = 100000;

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

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

struct metadata_t { }

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
        transition accept;
    }
}

control verify_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

// Forwarding is finished. It leaves TTL and checksum alone: first-router has had its turn.
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

    table routes {
        key = { hdr.ipv4.dst_addr: lpm; }
        actions = { forward; drop; }
        default_action = drop();
    }

    apply {
        if (hdr.ipv4.isValid()) {
            routes.apply();
        } else {
            mark_to_drop(standard_metadata);
        }
    }
}

// Runs when a packet has reached the head of its queue and is about to leave. It is told
//
//   standard_metadata.egress_port               the port, 9 bits
//   standard_metadata.deq_timedelta             microseconds that the packet waited, 32 bits
//   standard_metadata.deq_qdepth                packets that are still waiting behind it, 19 bits
//   standard_metadata.egress_global_timestamp   now, in microseconds, 48 bits
control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    // GAP 1: what is remembered from one packet to the next. There are 512 ports.

    // GAP 2: interval / sqrt(count) for count 1, 2, 3 ... P4 has no roots; a table has.

    apply {
        // GAP 3: has the wait been above TARGET for INTERVAL? If so, is a drop due?
    }
}

control update_nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(parse_packet(), verify_nothing(), ingress(), egress(), update_nothing(), deparse()) main;
