#include <core.p4>
#include <v1model.p4>
struct headers_t { }
struct metadata_t { }
parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t standard_metadata) {
    state start { transition accept; }
}
control nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }
control route(inout headers_t hdr, inout standard_metadata_t standard_metadata) { apply { } }
control send(packet_out packet, in headers_t hdr) { apply { } }
V1Switch(parse(), nothing(), route(), route(), nothing(), send()) main;
/* expected
wrong_control_for_the_architecture.p4:12:30: error: this is a `control route`, but a `Ingress<headers_t, metadata_t>` is needed
   12 | V1Switch(parse(), nothing(), route(), route(), nothing(), send()) main;
      |                              ^^^^^^^
   wrong_control_for_the_architecture.p4:10:9: it has 2 parameters
   10 | control route(inout headers_t hdr, inout standard_metadata_t standard_metadata) { apply { } }
      |         ^^^^^
   hint: `Ingress` has 3: inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata
*/
