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
    action to(bit<9> port) { std.egress_spec = port; }
    table routes {
        key = { hdr.byte.value : lpm; }
        actions = { to; }
        const entries = {
            0x80 &&& 0x80 : to(1);
            0x11 &&& 0x0F : to(2);
        }
    }
    apply { routes.apply(); }
}
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }
V1Switch(p(), none(), ingress(), egress(), none(), out_()) main;
/* expected
mask_is_no_prefix.p4:17:13: error: the mask of an lpm key must be ones followed by zeros
   17 |             0x11 &&& 0x0F : to(2);
      |             ^^^^^^^^^^^^^^^^^^^^^^
   hint: write the prefix as value &&& mask, or make the key ternary
*/
