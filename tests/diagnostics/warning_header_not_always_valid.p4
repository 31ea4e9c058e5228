// Headers that only some ways through the parser extract.
#include <v1model.p4>
header ethernet_t { bit<48> dst_addr; bit<48> src_addr; bit<16> ether_type; }
header ipv4_t { bit<8> ttl; bit<8> protocol; bit<32> dst_addr; }
header tcp_t { bit<16> src_port; bit<16> dst_port; }
header tunnel_t { bit<16> id; }
struct headers_t { ethernet_t ethernet; tunnel_t tunnel; ipv4_t ipv4; tcp_t tcp; }
struct metadata_t { bit<16> port; }
parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x0800: parse_ipv4;
            default: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.protocol) {
            6: parse_tcp;
            default: accept;
        }
    }
    state parse_tcp {
        packet.extract(hdr.tcp);
        transition accept;
    }
}
control nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }
control routing(inout headers_t hdr, inout standard_metadata_t std) {
    action send(bit<9> port) {
        std.egress_spec = port;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    action drop() { mark_to_drop(std); }
    table routes {
        key = { hdr.ipv4.dst_addr : lpm; }
        actions = { send; drop; }
        default_action = drop();
    }
    apply { routes.apply(); }
}
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action encapsulate(bit<16> id) {
        hdr.tunnel.setValid();
        hdr.tunnel.id = id;
    }
    action forward() { meta.port = hdr.tcp.dst_port; }
    table tunnels {
        key = { hdr.tcp.isValid() : exact; std.ingress_port : exact; }
        actions = { encapsulate; forward; NoAction; }
    }
    apply {
        if (hdr.tcp.isValid()) {
            meta.port = hdr.tcp.dst_port + (bit<16>) hdr.ipv4.ttl;
        }
        if (!hdr.ipv4.isValid()) {
            mark_to_drop(std);
        } else {
            routing.apply(hdr, std);
        }
        switch (tunnels.apply().action_run) {
            encapsulate: { meta.port = hdr.tunnel.id; }
        }
        meta.port = hdr.tunnel.id;
        meta.port = hdr.tunnel.id;
    }
}
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        hdr.ethernet.src_addr[7:0] = hdr.ipv4.ttl;
        routing.apply(hdr, std);
        if (hdr.tcp.src_port == 80 || (hdr.tunnel.isValid() && hdr.tunnel.id == 1)) {
            hdr.tcp.src_port = 81;
        }
        switch (meta.port) {
            1: { hdr.ethernet.setInvalid(); }
            2: { meta.port = hdr.ethernet.ether_type; }
        }
        meta.port = hdr.ethernet.ether_type;
    }
}
control deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(parse(), nothing(), ingress(), egress(), nothing(), deparse()) main;
/* expected
warning_header_not_always_valid.p4:66:21: warning[invalid-header]: `hdr.tunnel` is not valid in every packet that gets here
   66 |         meta.port = hdr.tunnel.id;
      |                     ^^^^^^^^^^^^^
   hint: test it first: if (hdr.tunnel.isValid()) { ... }
warning_header_not_always_valid.p4:74:13: warning[invalid-header]: `hdr.tcp` is not valid in every packet that gets here
   74 |         if (hdr.tcp.src_port == 80 || (hdr.tunnel.isValid() && hdr.tunnel.id == 1)) {
      |             ^^^^^^^^^^^^^^^^
   hint: test it first: if (hdr.tcp.isValid()) { ... }
warning_header_not_always_valid.p4:81:21: warning[invalid-header]: `hdr.ethernet` is not valid in every packet that gets here
   81 |         meta.port = hdr.ethernet.ether_type;
      |                     ^^^^^^^^^^^^^^^^^^^^^^^
   hint: test it first: if (hdr.ethernet.isValid()) { ... }
*/
