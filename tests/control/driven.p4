// A program that returns every frame with its events: for tests that drive each entity of P4Runtime
// and look at packets.
//
// A frame is an Ethernet header and a `told` header that the sender leaves zero. Its Ethernet type
// says which table decides where it goes; before that, every frame passes the counter, the meter,
// the register and the value set.

#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_addr_t;

const bit<9> CPU_PORT = 510;

// Ethernet types: the table that decides.
const bit<16> TYPE_EXACT = 0x8801;
const bit<16> TYPE_LPM = 0x8802;
const bit<16> TYPE_TERNARY = 0x8803;
const bit<16> TYPE_SELECTOR = 0x8804;
const bit<16> TYPE_PROFILE = 0x8805;

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    bit<7> pad;
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> egress_port;
    bit<7> pad;
}

header ethernet_t {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16> ether_type;
}

// The events of the frame.
header told_t {
    // Its colour by the meter of its port, and by the meter of its entry.
    bit<8> color;
    bit<8> direct_color;
    // The register's value when it came.
    bit<32> seen;
    // 1 where its destination is a member of the value set.
    bit<8> is_known;
    // Of the copy: v1model's instance_type and egress_rid.
    bit<8> instance_type;
    bit<16> rid;
    // The class in which it was queued.
    bit<8> qid;
}

struct headers_t {
    packet_out_t packet_out;
    packet_in_t packet_in;
    ethernet_t ethernet;
    told_t told;
}

struct metadata_t {
    bit<8> color;
    bit<8> direct_color;
    bit<8> is_known;
}

struct learned_t {
    mac_addr_t src_addr;
    bit<9> ingress_port;
}

parser packet_parser(packet_in packet,
                     out headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t std_meta) {
    value_set<bit<48>>(4) known_hosts;

    state start {
        transition select(std_meta.ingress_port) {
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
        packet.extract(hdr.told);
        transition select(hdr.ethernet.dst_addr) {
            known_hosts: parse_known;
            default: accept;
        }
    }

    state parse_known {
        meta.is_known = 1;
        transition accept;
    }
}

control no_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std_meta) {
    counter(16, CounterType.packets_and_bytes) port_counter;
    meter(16, MeterType.packets) port_meter;
    register<bit<32>>(16) seen;
    direct_counter(CounterType.packets_and_bytes) exact_counter;
    direct_meter<bit<8>>(MeterType.packets) exact_meter;
    action_selector(HashAlgorithm.crc16, 64, 16) next_hops;
    action_profile(64) hops;

    action drop() {
        mark_to_drop(std_meta);
    }

    action forward(bit<9> port) {
        std_meta.egress_spec = port;
    }

    action forward_metered(bit<9> port) {
        std_meta.egress_spec = port;
        exact_meter.read(meta.direct_color);
    }

    action to_group(bit<16> group) {
        std_meta.mcast_grp = group;
    }

    action forward_and_clone(bit<9> port, bit<32> session) {
        std_meta.egress_spec = port;
        clone(CloneType.I2E, session);
    }

    action to_controller() {
        std_meta.egress_spec = CPU_PORT;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = std_meta.ingress_port;
        hdr.packet_in.pad = 0;
    }

    action learn() {
        digest<learned_t>(1, { hdr.ethernet.src_addr, std_meta.ingress_port });
        mark_to_drop(std_meta);
    }

    table exact_table {
        key = { hdr.ethernet.dst_addr: exact; }
        actions = { forward_metered; to_group; forward_and_clone; to_controller; learn; drop; }
        default_action = drop();
        counters = exact_counter;
        meters = exact_meter;
        support_timeout = true;
        size = 1024;
    }

    table lpm_table {
        key = { hdr.ethernet.dst_addr: lpm; }
        actions = { forward; drop; }
        default_action = drop();
        size = 1024;
    }

    table ternary_table {
        key = {
            hdr.ethernet.dst_addr: ternary;
            hdr.ethernet.src_addr: optional;
            std_meta.ingress_port: range;
        }
        actions = { forward; drop; }
        default_action = drop();
        size = 64;
    }

    table selector_table {
        key = {
            hdr.ethernet.dst_addr: exact;
            hdr.ethernet.src_addr: selector;
        }
        actions = { forward; drop; NoAction; }
        implementation = next_hops;
        size = 16;
    }

    table profile_table {
        key = { hdr.ethernet.dst_addr: exact; }
        actions = { forward; drop; NoAction; }
        implementation = hops;
        size = 16;
    }

    apply {
        if (hdr.packet_out.isValid()) {
            std_meta.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            bit<32> port = (bit<32>)std_meta.ingress_port;
            // Where no table says otherwise a frame ends here.
            mark_to_drop(std_meta);
            port_counter.count(port);
            port_meter.execute_meter(port, meta.color);
            seen.read(hdr.told.seen, port);
            seen.write(port, hdr.told.seen + 1);
            if (hdr.ethernet.ether_type == TYPE_EXACT) {
                exact_table.apply();
            } else if (hdr.ethernet.ether_type == TYPE_LPM) {
                lpm_table.apply();
            } else if (hdr.ethernet.ether_type == TYPE_TERNARY) {
                ternary_table.apply();
            } else if (hdr.ethernet.ether_type == TYPE_SELECTOR) {
                selector_table.apply();
            } else if (hdr.ethernet.ether_type == TYPE_PROFILE) {
                profile_table.apply();
            }
            hdr.told.color = meta.color;
            hdr.told.direct_color = meta.direct_color;
            hdr.told.is_known = meta.is_known;
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std_meta) {
    apply {
        if (hdr.told.isValid()) {
            hdr.told.instance_type = (bit<8>)std_meta.instance_type;
            hdr.told.rid = std_meta.egress_rid;
            hdr.told.qid = std_meta.qid;
        }
    }
}

control packet_deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.told);
    }
}

V1Switch(packet_parser(), no_checksums(), ingress(), egress(), no_checksums(), packet_deparser())
    main;
