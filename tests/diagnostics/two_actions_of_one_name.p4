#include <v1model.p4>
header byte_t { bit<8> value; }
struct headers_t { byte_t byte; }
struct cell_t { bit<8> count; bit<8> last; }
struct metadata_t { cell_t cell; }
parser p(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.byte); transition accept; }
}
control none(inout headers_t hdr, inout metadata_t meta) { apply { } }
control out_(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    @name(".set_value") action set_high() { hdr.byte.value = 200; }
    @name(".set_value") action set_low() { hdr.byte.value = 1; }
    table t {
        key = { hdr.byte.value : exact; }
        actions = { set_high; set_low; }
    }
    apply {
        std.egress_spec = 1;
        t.apply();
    }
}
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }
V1Switch(p(), none(), ingress(), egress(), none(), out_()) main;
/* expected
two_actions_of_one_name.p4:13:32: error: two actions are called `set_value` by the control plane
   13 |     @name(".set_value") action set_low() { hdr.byte.value = 1; }
      |                                ^^^^^^^
   two_actions_of_one_name.p4:12:32: the other one
   12 |     @name(".set_value") action set_high() { hdr.byte.value = 200; }
      |                                ^^^^^^^^
   hint: the name is made of @name, or of the controls around; give one a @name
*/
