// One of each thing that clients of bmv2's runtime interface name.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst_addr; bit<48> src_addr; bit<16> ether_type; }
header tag_t { bit<32> address; bit<12> vlan; bit<4> pad; }
struct headers_t { ethernet_t ethernet; tag_t tag; }
struct metadata_t { bit<32> color; bit<16> hash; bit<16> way; }

parser read(packet_in packet, out headers_t hdr, inout metadata_t meta,
            inout standard_metadata_t standard) {
    value_set<bit<16>>(4) tagged;
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            tagged: parse_tag;
            default: accept;
        }
    }
    state parse_tag { packet.extract(hdr.tag); transition accept; }
}

control check(inout headers_t hdr, inout metadata_t meta) { apply {} }

control ingress(inout headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard) {
    counter(8, CounterType.packets_and_bytes) seen;
    register<bit<32>>(4) cells;
    register<int<8>>(4) signed_cells;
    meter(4, MeterType.packets) police;
    direct_counter(CounterType.packets_and_bytes) hits;
    direct_meter<bit<32>>(MeterType.bytes) colors;
    action_selector(HashAlgorithm.crc16, 16, 16) ways;

    action drop() { mark_to_drop(standard); }
    action send(bit<9> port) { standard.egress_spec = port; }
    action spread(bit<16> group) { standard.mcast_grp = group; }
    action copy(bit<32> session) { clone(CloneType.I2E, session); standard.egress_spec = 1; }
    action mark(bit<48> address, bit<9> port) {
        hdr.ethernet.src_addr = address;
        standard.egress_spec = port;
        colors.read(meta.color);
    }

    table by_address {
        key = { hdr.ethernet.dst_addr: exact; }
        actions = { send; spread; copy; drop; NoAction; }
        default_action = drop();
        counters = hits;
        size = 4;
        support_timeout = true;
    }
    table by_prefix {
        key = { hdr.tag.address: lpm; hdr.tag.isValid(): exact; }
        actions = { send; NoAction; }
        const default_action = NoAction();
    }
    table by_rule {
        key = { hdr.ethernet.src_addr: ternary; hdr.ethernet.ether_type: range; }
        actions = { mark; NoAction; }
        meters = colors;
    }
    table fixed {
        key = { hdr.ethernet.ether_type: exact; }
        actions = { send; NoAction; }
        const entries = { 0x88b5: send(3); }
    }
    table by_way {
        key = { hdr.tag.vlan: exact; hdr.ethernet.src_addr: selector; }
        actions = { send; drop; }
        implementation = ways;
    }

    apply {
        by_address.apply();
        by_prefix.apply();
        by_rule.apply();
        fixed.apply();
        by_way.apply();
        seen.count((bit<32>)standard.ingress_port);
        cells.write(0, hdr.tag.address);
        bit<32> color;
        police.execute_meter(0, color);
        hash(meta.hash, HashAlgorithm.crc16_custom, 16w0, { hdr.ethernet.dst_addr }, 32w65536);
    }
}

control egress(inout headers_t hdr, inout metadata_t meta,
               inout standard_metadata_t standard) {
    register<bit<16>>(1) last_hash;
    apply { last_hash.write(0, meta.hash); }
}

control sum(inout headers_t hdr, inout metadata_t meta) { apply {} }

control write(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.tag); }
}

V1Switch(read(), check(), ingress(), egress(), sum(), write()) main;
