// Cables and nothing else: what comes in at port n leaves at port n + 256, and the other way round.
//
//   a switch under test -- port n ===== port n + 256 -- host
//
// It parses nothing, so a frame leaves as it came. The topology adapter puts it around switches
// that emulate no cable of their own; rates, delays and losses are those of the ports' lines.

#include <core.p4>
#include <v1model.p4>

struct headers_t { }

struct metadata_t { }

parser parse_nothing(packet_in packet,
                     out headers_t hdr,
                     inout metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    state start {
        transition accept;
    }
}

control no_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = standard_metadata.ingress_port ^ 9w256;
    }
}

control egress(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply { }
}

control deparse_nothing(packet_out packet, in headers_t hdr) {
    apply { }
}

V1Switch(parse_nothing(),
         no_checksums(),
         ingress(),
         egress(),
         no_checksums(),
         deparse_nothing()) main;
