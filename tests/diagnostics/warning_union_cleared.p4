#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; }
header_union u_t { h_t one; h_t two; }
struct headers_t { h_t h; u_t u; }
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
    apply {
        std.egress_spec = 1;
        if (hdr.h.a == 1) {
            hdr.u.one.setValid();
            hdr.u.one.a = 1;
            hdr.u.two.setInvalid();
        } else if (hdr.h.a == 2) {
            // Nothing is lost.
            hdr.u.two.setInvalid();
            hdr.u.one.setValid();
            hdr.u.one.setInvalid();
        } else {
            hdr.u.two = hdr.h;
            hdr.u.one.setInvalid();
        }
    }
}
V1Switch(parse(), nothing(), ingress(), egress(), nothing(), deparse()) main;
/* expected
warning_union_cleared.p4:25:13: warning[union-cleared]: this makes `hdr.u.one` invalid, too
   25 |             hdr.u.two.setInvalid();
      |             ^^^^^^^^^^^^^^^^^^^^^^
   warning_union_cleared.p4:23:13: `hdr.u.one` is made valid here
   23 |             hdr.u.one.setValid();
      |             ^^^^^^^^^^^^^^^^^^^^
   hint: a header union has one valid header: leave this call out, `hdr.u.two` is invalid already
warning_union_cleared.p4:33:13: warning[union-cleared]: this makes `hdr.u.two` invalid, too
   33 |             hdr.u.one.setInvalid();
      |             ^^^^^^^^^^^^^^^^^^^^^^
   warning_union_cleared.p4:32:13: `hdr.u.two` is made valid here
   32 |             hdr.u.two = hdr.h;
      |             ^^^^^^^^^^^^^^^^^^
   hint: a header union has one valid header: leave this call out, `hdr.u.one` is invalid already
*/
