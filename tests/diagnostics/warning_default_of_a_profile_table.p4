#include <v1model.p4>
header byte_t { bit<8> value; }
struct headers_t { byte_t byte; }
struct metadata_t { }
parser p(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.byte); transition accept; }
}
control none(inout headers_t hdr, inout metadata_t meta) { apply { } }
control out_(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action drop() { mark_to_drop(std); }
    action to(bit<9> port) { std.egress_spec = port; }
    table spread {
        key = { hdr.byte.value : exact; }
        actions = { to; drop; }
        default_action = drop();
        implementation = action_profile(16);
    }
    apply { spread.apply(); }
}
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }
V1Switch(p(), none(), ingress(), egress(), none(), out_()) main;
/* expected
warning_default_of_a_profile_table.p4:16:26: warning[default-ignored]: simple_switch ignores the default action of a table with an action profile
   16 |         default_action = drop();
      |                          ^^^^^^
   hint: on a miss nothing happens; test `apply().miss` and do it there
*/
