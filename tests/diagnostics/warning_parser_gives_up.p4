#include <core.p4>
#include <v1model.p4>
header h_t { bit<1> flag; bit<7> kind; bit<8> length; }
struct headers_t { h_t h; }
struct metadata_t {}
parser p(packet_in packet, out headers_t hdr, inout metadata_t meta,
         inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.kind) {
            1: listed;
            2: accept;
        }
    }
    state listed {
        transition select(hdr.h.flag) {
            0: accept;
            1: forgotten;
        }
    }
    @hiden state forgotten {}
}
control verify_c(inout headers_t hdr, inout metadata_t meta) { apply {} }
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply { standard.egress_spec = 1; }
}
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}
control compute(inout headers_t hdr, inout metadata_t meta) { apply {} }
control deparser(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
V1Switch(p(), verify_c(), ingress(), egress(), compute(), deparser()) main;
/* expected
warning_parser_gives_up.p4:10:20: warning[select-default]: the parser stops with error.NoMatch where none of these cases fits
   10 |         transition select(hdr.h.kind) {
      |                    ^^^^^^^^^^^^^^^^^^^^
   hint: say what then: `default: accept;` or `default: reject;`
warning_parser_gives_up.p4:21:5: warning[annotation]: the annotation @hiden has no meaning
   21 |     @hiden state forgotten {}
      |     ^^^^^^
   hint: is @hidden meant?
warning_parser_gives_up.p4:21:18: warning[parser-transition]: state `forgotten` has no transition, so the parser rejects there
   21 |     @hiden state forgotten {}
      |                  ^^^^^^^^^
   hint: end it with `transition accept;`, or with `transition` and the next state
*/
