// The kit's router. This file only wires: includes, the order of the controls, `main`.
//
//   parse_packet -> verify_checksums -> ingress: routing, classify
//                                          |
//                        queues, fabric, scheduler (the switch, not P4)
//                                          |
//                     egress: nothing yet -> update_checksums -> deparse_packet

#include <core.p4>
#include <v1model.p4>
#include "../lib/parsers.p4"
#include "../lib/checksums.p4"
#include "../control/routing.p4"
#include "../control/classify.p4"

control ingress(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    apply {
        routing.apply(hdr, standard_metadata);
        classify.apply(hdr, meta, standard_metadata);
    }
}

control egress(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply {
    }
}

V1Switch(parse_packet(),
         verify_checksums(),
         ingress(),
         egress(),
         update_checksums(),
         deparse_packet()) main;
