#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> next; }
@controller_header("packet_out")
header packet_out_t { bit<8> a; }
struct headers_t { h_t emitted; h_t lost; h_t popped; packet_out_t out_header; h_t[2] stack; }
struct metadata_t { }
parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.out_header);
        packet.extract(hdr.emitted);
        packet.extract(hdr.lost);
        packet.extract(hdr.popped);
        packet.extract(hdr.stack.next);
        transition accept;
    }
}
control nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.popped.setInvalid();
    }
}
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}
control deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.emitted);
        packet.emit(hdr.stack);
    }
}
V1Switch(parse(), nothing(), ingress(), egress(), nothing(), deparse()) main;
/* expected
warning_header_never_emitted.p4:13:24: warning[header-not-emitted]: `hdr.lost` is extracted and never emitted
   13 |         packet.extract(hdr.lost);
      |                        ^^^^^^^^
   hint: packets leave without it: write packet.emit(hdr.lost); in the deparser, or make it invalid
*/
