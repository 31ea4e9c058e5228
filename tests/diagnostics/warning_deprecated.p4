#include <v1model.p4>
header byte_t { bit<8> value; }
struct headers_t { byte_t byte; }
struct metadata_t { bit<8> kept; }
parser p(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.byte); transition accept; }
}
control none(inout headers_t hdr, inout metadata_t meta) { apply { } }
control out_(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        clone3(CloneType.I2E, 5, { meta.kept });
        resubmit(meta);
    }
}
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { recirculate(meta); }
}
V1Switch(p(), none(), ingress(), egress(), none(), out_()) main;
/* expected
warning_deprecated.p4:13:9: warning[deprecated]: `clone3` is deprecated
   13 |         clone3(CloneType.I2E, 5, { meta.kept });
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   hint: Please use 'clone_preserving_field_list' instead
warning_deprecated.p4:14:9: warning[deprecated]: `resubmit` is deprecated
   14 |         resubmit(meta);
      |         ^^^^^^^^^^^^^^
   hint: Please use 'resubmit_preserving_field_list' instead
warning_deprecated.p4:18:13: warning[deprecated]: `recirculate` is deprecated
   18 |     apply { recirculate(meta); }
      |             ^^^^^^^^^^^^^^^^^
   hint: Please use 'recirculate_preserving_field_list' instead
*/
