// One of each thing that P4Runtime can name, for the tests of the server.
#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_addr_t;

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

struct headers_t {
    packet_out_t packet_out;
    packet_in_t packet_in;
    ethernet_t ethernet;
}

struct metadata_t {
    bit<32> color;
}

struct learned_t {
    mac_addr_t src_addr;
    bit<9> ingress_port;
}

const bit<9> CPU_PORT = 510;

parser packet_parser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t std_meta) {
    value_set<bit<16>>(4) known_types;

    state start {
        transition select(std_meta.ingress_port) {
            CPU_PORT: parse_packet_out;
            default: parse_ethernet;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.packet_out);
        transition parse_ethernet;
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            known_types: accept;
            default: accept;
        }
    }
}

control verify_headers(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std_meta) {
    counter(16, CounterType.packets_and_bytes) port_counter;
    meter(16, MeterType.bytes) port_meter;
    counter(2048, CounterType.packets) many_counters;
    register<bit<32>>(32) seen;
    register<int<8>>(4) signed_cells;
    direct_counter(CounterType.packets_and_bytes) exact_counter;
    direct_meter<bit<32>>(MeterType.bytes) exact_meter;
    action_selector(HashAlgorithm.crc16, 64, 16) next_hops;

    action_profile(4096) many_hops;

    action drop() {
        mark_to_drop(std_meta);
    }

    action forward(bit<9> port) {
        std_meta.egress_spec = port;
    }

    action forward_and_meter(bit<9> port) {
        std_meta.egress_spec = port;
        exact_meter.read(meta.color);
    }

    action to_group(bit<16> group) {
        std_meta.mcast_grp = group;
    }

    action to_controller() {
        std_meta.egress_spec = CPU_PORT;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = std_meta.ingress_port;
        hdr.packet_in.pad = 0;
    }

    action learn() {
        digest<learned_t>(1, { hdr.ethernet.src_addr, std_meta.ingress_port });
    }

    table exact_table {
        key = { hdr.ethernet.dst_addr: exact; }
        actions = { forward_and_meter; drop; to_controller; @defaultonly NoAction; }
        default_action = NoAction();
        counters = exact_counter;
        meters = exact_meter;
        size = 65536;
        support_timeout = true;
    }

    table lpm_table {
        key = { hdr.ethernet.src_addr: lpm; }
        actions = { forward; @tableonly to_group; learn; @defaultonly NoAction; }
        const default_action = NoAction();
        size = 131072;
    }

    table ternary_table {
        key = {
            hdr.ethernet.dst_addr: ternary;
            hdr.ethernet.ether_type: optional;
            std_meta.ingress_port: range;
        }
        actions = { forward; learn; drop; NoAction; }
        default_action = drop();
        size = 8;
    }

    table const_table {
        key = { hdr.ethernet.ether_type: exact; }
        actions = { forward; NoAction; }
        const entries = {
            0x0800: forward(1);
            0x86dd: forward(2);
        }
    }

    table selector_table {
        key = {
            hdr.ethernet.ether_type: exact;
            hdr.ethernet.src_addr: selector;
        }
        actions = { forward; drop; NoAction; }
        implementation = next_hops;
        size = 16;
    }

    table profile_table {
        key = { hdr.ethernet.ether_type: exact; }
        actions = { drop; NoAction; }
        implementation = many_hops;
    }

    apply {
        if (hdr.packet_out.isValid()) {
            std_meta.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            port_counter.count((bit<32>)std_meta.ingress_port);
            many_counters.count((bit<32>)std_meta.ingress_port);
            port_meter.execute_meter((bit<32>)std_meta.ingress_port, meta.color);
            seen.write((bit<32>)std_meta.ingress_port, (bit<32>)hdr.ethernet.ether_type);
            signed_cells.write(0, (int<8>)1);
            ternary_table.apply();
            lpm_table.apply();
            const_table.apply();
            selector_table.apply();
            profile_table.apply();
            exact_table.apply();
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std_meta) {
    apply { }
}

control update_headers(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control packet_deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
    }
}

V1Switch(packet_parser(), verify_headers(), ingress(), egress(), update_headers(),
         packet_deparser()) main;
