#include <core.p4>
#include <v1model.p4>
struct headers_t { }
struct metadata_t { }
parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t standard_metadata) {
    state start { transition accept; }
}
control nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }
control route(inout headers_t hdr, inout metadata_t meta,
              inout standard_metadata_t standard_metadata) { apply { } }
control send(packet_out packet, in headers_t hdr) { apply { } }
V1Switch(parse(), nothing(), route(), route(), nothing(), send()) main;
/* expected
warning_no_egress_spec.p4:10:9: warning[no-egress-spec]: `route` never says where a packet goes
   10 | control route(inout headers_t hdr, inout metadata_t meta,
      |         ^^^^^
   hint: set standard_metadata.egress_spec, or call mark_to_drop(standard_metadata)
*/
