// Tables for a million entries of each kind.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t { }

parser packet_parser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                     inout standard_metadata_t std_meta) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control verify_headers(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std_meta) {
    action forward(bit<9> port) {
        std_meta.egress_spec = port;
    }

    table routes {
        key = { hdr.ethernet.dst_addr: lpm; }
        actions = { forward; NoAction; }
        size = 1048576;
    }

    table rules {
        key = { hdr.ethernet.src_addr: ternary; }
        actions = { forward; NoAction; }
        size = 1048576;
    }

    apply {
        routes.apply();
        rules.apply();
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
        packet.emit(hdr.ethernet);
    }
}

V1Switch(packet_parser(), verify_headers(), ingress(), egress(), update_headers(),
         packet_deparser()) main;
