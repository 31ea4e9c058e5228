// A select by isValid() tells its cases apart; behind them, in a shared state, it does not.
#include <v1model.p4>
header ethernet_t { bit<16> ether_type; }
header ipv4_t { bit<8> protocol; }
header ipv6_t { bit<8> next_header; }
header udp_t { bit<16> dst_port; }
struct headers_t { ethernet_t ethernet; ipv4_t ipv4; ipv6_t ipv6; udp_t udp; }
struct metadata_t { bit<8> kind; }
parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x0800: parse_ipv4;
            0x86dd: parse_ipv6;
            default: accept;
        }
    }
    state parse_ipv4 { packet.extract(hdr.ipv4); transition parse_l4; }
    state parse_ipv6 { packet.extract(hdr.ipv6); transition parse_l4; }
    state parse_l4 {
        transition select(hdr.ipv4.isValid()) {
            true: parse_l4_of_ipv4;
            default: parse_l4_of_ipv6;
        }
    }
    state parse_l4_of_ipv4 { meta.kind = hdr.ipv4.protocol; transition parse_udp; }
    state parse_l4_of_ipv6 { meta.kind = hdr.ipv6.next_header; transition parse_udp; }
    state parse_udp {
        packet.extract(hdr.udp);
        meta.kind = hdr.ipv4.protocol;
        transition accept;
    }
}
control nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        if (hdr.udp.isValid() && !hdr.ipv4.isValid()) {
            meta.kind = hdr.ipv6.next_header;
        }
    }
}
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }
control deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(parse(), nothing(), ingress(), egress(), nothing(), deparse()) main;

/* expected
warning_header_selected_by.p4:31:21: warning[invalid-header]: `hdr.ipv4` is not valid in every packet that gets here
   31 |         meta.kind = hdr.ipv4.protocol;
      |                     ^^^^^^^^^^^^^^^^^
   hint: test it first: if (hdr.ipv4.isValid()) { ... }
*/
