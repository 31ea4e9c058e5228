// The kit's router with load balancing that knows of the queues on the way. This file only wires.
//
//   parse_packet -> verify_checksums
//        |
//   ingress: from the controller?  yes: from_controller
//                                  no:  routing -> queue_telling_ingress -> balancing
//                                       -> path_mtu -> classify
//        |
//   queues, fabric, scheduler (the switch, not P4)
//        |
//   egress:  ecn_marking -> accounting -> queue_telling_egress
//        |
//   update_checksums -> deparse_packet

#define WITH_BALANCING

#include <core.p4>
#include <v1model.p4>
#include "../lib/parsers.p4"
#include "../lib/checksums.p4"
#include "../control/punt.p4"
#include "../control/routing.p4"
#include "../control/queue_telling.p4"
#include "../control/balancing.p4"
#include "../control/path_mtu.p4"
#include "../control/classify.p4"
#include "../control/ecn.p4"
#include "../control/accounting.p4"

control ingress(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.packet_out.isValid()) {
            from_controller.apply(hdr, standard_metadata);
        } else {
            routing.apply(hdr, meta, standard_metadata);
            queue_telling_ingress.apply(hdr, meta, standard_metadata);
            balancing.apply(hdr, meta, standard_metadata);
            path_mtu.apply(hdr, meta, standard_metadata);
            classify.apply(hdr, meta, standard_metadata);
        }
    }
}

control egress(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply {
        ecn_marking.apply(hdr, standard_metadata);
        accounting.apply(standard_metadata);
        queue_telling_egress.apply(hdr, meta, standard_metadata);
    }
}

V1Switch(parse_packet(),
         verify_checksums(),
         ingress(),
         egress(),
         update_checksums(),
         deparse_packet()) main;
