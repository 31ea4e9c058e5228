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
    action forward(bit<9> port) { std.egress_spec = port; }
    table t {
        key = { hdr.h.a : exact; }
        actions = { forward; }
        implementation = action_profile(16);
        counters = direct_counter(CounterType.packets);
    }
    table u {
        key = { hdr.h.a : exact; }
        actions = { forward; }
        implementation = action_profile(16);
        counters = direct_counter(CounterType.packets);
    }
    table v {
        key = { hdr.h.a : exact; }
        actions = { forward; }
        @name("v_counters") counters = direct_counter(CounterType.packets);
    }
    apply {
        t.apply();
        u.apply();
        v.apply();
    }
}
V1Switch(parse(), nothing(), ingress(), egress(), nothing(), deparse()) main;
/* expected
table_properties_share_a_name.p4:29:9: error: another table's `implementation` has the name `implementation` already
   29 |         implementation = action_profile(16);
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   hint: declare the object and name it here, or write @name("...") before `implementation`
table_properties_share_a_name.p4:30:9: error: another table's `counters` has the name `counters` already
   30 |         counters = direct_counter(CounterType.packets);
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   hint: declare the object and name it here, or write @name("...") before `counters`
*/
