#include <core.p4>
#include <v1model.p4>
control c(inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadta.egress_spec = 1;
        standard_metadata.egress_spec = DROP_PORT;
    }
}
parser p(packet_in packet, out ethernt_t hdr) {
    state start { transition accept; }
}
/* expected
unknown_name_is_suggested.p4:5:9: error: there is no variable, constant or object `standard_metadta` here
    5 |         standard_metadta.egress_spec = 1;
      |         ^^^^^^^^^^^^^^^^
   hint: is `standard_metadata` meant?
unknown_name_is_suggested.p4:6:41: error: there is no variable, constant or object `DROP_PORT` here
    6 |         standard_metadata.egress_spec = DROP_PORT;
      |                                         ^^^^^^^^^
   hint: a name must be declared before it is used
unknown_name_is_suggested.p4:9:32: error: there is no type `ethernt_t` here
    9 | parser p(packet_in packet, out ethernt_t hdr) {
      |                                ^^^^^^^^^
   hint: a name must be declared before it is used
*/
