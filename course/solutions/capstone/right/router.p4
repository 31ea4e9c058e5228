// A router: forwards, sends up what it cannot decide, puts calls first, keeps queues short.

#include <core.p4>
#include <v1model.p4>

const bit<16> ETHERTYPE_ARP  = 0x0806;
const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8>  UDP = 17;
const bit<9>  CPU_PORT = 510;

// The class that goes first: calls, and what the controller sends.
const bit<3>  URGENT = 1;
const bit<16> VOICE = VOICE_PORT;

// CoDel: waits above TARGET for an INTERVAL are too long; both in microseconds.
const bit<32> TARGET = 5000;
const bit<48> INTERVAL = 100000;

// Why a packet goes to the controller.
const bit<8> NEIGHBOUR = 1;
const bit<8> LOCAL = 2;
const bit<8> NO_ROUTE = 3;
const bit<8> USED_UP = 4;

@controller_header("packet_in")
header packet_in_t {
    bit<7> padding;
    bit<9> ingress_port;
    bit<8> reason;
}

@controller_header("packet_out")
header packet_out_t {
    bit<7> padding;
    bit<9> egress_port;
}

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  tos;
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

header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

struct headers_t {
    packet_in_t  packet_in;
    packet_out_t packet_out;
    ethernet_t   ethernet;
    ipv4_t       ipv4;
    udp_t        udp;
}

struct metadata_t { }

parser parse_packet(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    // What the controller sends has a header in front that says by which port it leaves.
    state start {
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: parse_packet_out;
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
            ETHERTYPE_IPV4: look_at_ipv4;
            default: accept;
        }
    }

    state look_at_ipv4 {
        transition select(packet.lookahead<bit<8>>()) {
            0x45: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0, UDP): parse_udp;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition accept;
    }
}

control verify_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
                        { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.total_len,
                          hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset,
                          hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr },
                        hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }

    action to_controller(bit<8> reason) {
        standard_metadata.egress_spec = CPU_PORT;
        hdr.packet_in.setValid();
        hdr.packet_in.padding = 0;
        hdr.packet_in.ingress_port = standard_metadata.ingress_port;
        hdr.packet_in.reason = reason;
    }

    action set_next_hop(bit<9> port, bit<48> src_addr, bit<48> dst_addr) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
    }

    action deliver() {
        to_controller(LOCAL);
    }

    action no_route() {
        to_controller(NO_ROUTE);
    }

    table ipv4_routes {
        key = { hdr.ipv4.dst_addr: lpm; }
        actions = { set_next_hop; deliver; no_route; }
        const default_action = no_route();
        size = 1024;
    }

    apply {
        if (hdr.packet_out.isValid()) {
            // Hellos that wait behind downloads, or are dropped with them, cost the neighbour.
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            standard_metadata.priority = URGENT;
            hdr.packet_out.setInvalid();
        } else if (hdr.ipv4.isValid()) {
            if (standard_metadata.checksum_error == 1) {
                drop();
            } else if (hdr.ipv4.ttl <= 1) {
                to_controller(USED_UP);
            } else {
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
                ipv4_routes.apply();
                if (hdr.udp.isValid() && hdr.udp.dst_port == VOICE) {
                    standard_metadata.priority = URGENT;
                }
            }
        } else if (hdr.ethernet.ether_type == ETHERTYPE_ARP) {
            to_controller(NEIGHBOUR);
        } else {
            drop();
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
        // What goes first is never many, and a router whose hellos are dropped has no neighbours.
        if (standard_metadata.priority != URGENT && standard_metadata.egress_port != CPU_PORT) {
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
}

control update_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
                        { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.total_len,
                          hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset,
                          hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr },
                        hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
    }
}

V1Switch(parse_packet(), verify_checksums(), ingress(), egress(), update_checksums(), deparse())
    main;
