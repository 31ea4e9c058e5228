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
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action divide(bit<8> by) { hdr.h.a = hdr.h.a / by; }
    action remainder(in bit<8> by) { hdr.h.a = hdr.h.a % by; }
    table t {
        key = { hdr.h.a : exact; }
        actions = { divide; NoAction; }
    }
    apply {
        std.egress_spec = 1;
        t.apply();
        remainder(16);
        remainder(7);
        remainder(0);
        remainder(hdr.h.a);
    }
}
V1Switch(parse(), nothing(), ingress(), egress(), nothing(), deparse()) main;
/* expected
division_by_action_data.p4:19:42: error: this division must be known at compile time
   19 |     action divide(bit<8> by) { hdr.h.a = hdr.h.a / by; }
      |                                          ^^^^^^^^^^^^
   hint: a packet's values can be divided by powers of two only
division_by_action_data.p4:20:48: error: this division must be known at compile time
   20 |     action remainder(in bit<8> by) { hdr.h.a = hdr.h.a % by; }
      |                                                ^^^^^^^^^^^^
   hint: a packet's values can be divided by powers of two only
division_by_action_data.p4:20:48: error: this has no value: division by zero
   20 |     action remainder(in bit<8> by) { hdr.h.a = hdr.h.a % by; }
      |                                                ^^^^^^^^^^^^
*/
