// CoDel (RFC 8289, section 5) in egress.

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

control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    // When the wait will have been above TARGET for an INTERVAL; 0: it is below.
    register<bit<48>>(512) bad_from_of;
    register<bit<1>>(512)  dropping_of;
    // The present spell of drops: how many, and when the next one is due.
    register<bit<32>>(512) count_of;
    register<bit<48>>(512) next_of;

    bit<32> count;
    bit<48> gap;

    action set_gap(bit<48> span) {
        gap = span;
    }

    // 100 ms / sqrt(count); after forty drops the wait has been too long for a second.
    table control_law {
        key = { count: exact; }
        actions = { set_gap; }
        const entries = {
             1: set_gap(100000);
             2: set_gap(70711);
             3: set_gap(57735);
             4: set_gap(50000);
             5: set_gap(44721);
             6: set_gap(40825);
             7: set_gap(37796);
             8: set_gap(35355);
             9: set_gap(33333);
            10: set_gap(31623);
            11: set_gap(30151);
            12: set_gap(28868);
            13: set_gap(27735);
            14: set_gap(26726);
            15: set_gap(25820);
            16: set_gap(25000);
            17: set_gap(24254);
            18: set_gap(23570);
            19: set_gap(22942);
            20: set_gap(22361);
            21: set_gap(21822);
            22: set_gap(21320);
            23: set_gap(20851);
            24: set_gap(20412);
            25: set_gap(20000);
            26: set_gap(19612);
            27: set_gap(19245);
            28: set_gap(18898);
            29: set_gap(18570);
            30: set_gap(18257);
            31: set_gap(17961);
            32: set_gap(17678);
            33: set_gap(17408);
            34: set_gap(17150);
            35: set_gap(16903);
            36: set_gap(16667);
            37: set_gap(16440);
            38: set_gap(16222);
            39: set_gap(16013);
            40: set_gap(15811);
        }
        const default_action = set_gap(15000);
    }

    apply {
        bit<32> port = (bit<32>)standard_metadata.egress_port;
        bit<48> now = standard_metadata.egress_global_timestamp;
        bit<48> bad_from;
        bit<1>  dropping;
        bit<48> next;
        bad_from_of.read(bad_from, port);
        dropping_of.read(dropping, port);
        count_of.read(count, port);
        next_of.read(next, port);

        bool is_bad = false;
        if (standard_metadata.deq_timedelta < TARGET || standard_metadata.deq_qdepth == 0) {
            bad_from = 0;
        } else if (bad_from == 0) {
            bad_from = now + INTERVAL;
        } else {
            is_bad = now >= bad_from;
        }

        if (!is_bad) {
            dropping = 0;
        } else if (dropping == 0) {
            dropping = 1;
            count = 1;
            control_law.apply();
            next = now + gap;
            mark_to_drop(standard_metadata);
        } else if (now >= next) {
            count = count + 1;
            control_law.apply();
            next = next + gap;
            mark_to_drop(standard_metadata);
        }

        bad_from_of.write(port, bad_from);
        dropping_of.write(port, dropping);
        count_of.write(port, count);
        next_of.write(port, next);
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
