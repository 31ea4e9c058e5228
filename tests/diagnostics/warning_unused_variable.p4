#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; }
struct headers_t { h_t h; }
struct metadata_t { }
parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}
control nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}
control deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
bit<8> second(in bit<8> first, in bit<8> other) { return other; }
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    bit<8> lost;
    action forward(bit<9> port, bit<48> address, @noWarn("unused") bit<8> known) {
        std.egress_spec = port;
    }
    table t { actions = { forward; } }
    apply {
        bit<8> here = 1;
        t.apply();
        hdr.h.a = second(1, 2);
    }
}
V1Switch(parse(), nothing(), ingress(), egress(), nothing(), deparse()) main;
/* expected
warning_unused_variable.p4:18:25: warning[unused-variable]: parameter `first` is never used
   18 | bit<8> second(in bit<8> first, in bit<8> other) { return other; }
      |                         ^^^^^
   hint: leave it out, or write @noWarn("unused") before it
warning_unused_variable.p4:20:12: warning[unused-variable]: variable `lost` is never used
   20 |     bit<8> lost;
      |            ^^^^
   hint: leave it out, or write @noWarn("unused") before it
warning_unused_variable.p4:21:41: warning[unused-variable]: parameter `address` is never used
   21 |     action forward(bit<9> port, bit<48> address, @noWarn("unused") bit<8> known) {
      |                                         ^^^^^^^
   hint: leave it out, or write @noWarn("unused") before it
*/
