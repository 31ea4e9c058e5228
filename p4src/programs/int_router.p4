// The kit's router with in-band telemetry (INT 2.1). This file only wires.
//
//   parse_packet -> verify_checksums
//        |
//   ingress: from the controller?  yes: from_controller
//                                  no:  routing -> path_mtu -> classify -> int_watchlist
//        |
//   queues, fabric, scheduler (the switch, not P4)
//        |
//   egress:  ecn_marking -> accounting -> int_telemetry
//        |
//   update_checksums, also of a report -> deparse_packet

#define WITH_INT

#include <core.p4>
#include <v1model.p4>
#include "../lib/parsers.p4"
#include "../lib/checksums.p4"
#include "../control/punt.p4"
#include "../control/routing.p4"
#include "../control/path_mtu.p4"
#include "../control/classify.p4"
#include "../control/ecn.p4"
#include "../control/accounting.p4"
#include "../control/int/watchlist.p4"
#include "../control/int/telemetry.p4"

control ingress(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.packet_out.isValid()) {
            from_controller.apply(hdr, standard_metadata);
        } else {
            routing.apply(hdr, meta, standard_metadata);
            path_mtu.apply(hdr, meta, standard_metadata);
            classify.apply(hdr, meta, standard_metadata);
            int_watchlist.apply(hdr, meta);
        }
    }
}

control egress(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply {
        ecn_marking.apply(hdr, standard_metadata);
        accounting.apply(standard_metadata);
        int_telemetry.apply(hdr, meta, standard_metadata);
    }
}

control update_all_checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksums.apply(hdr, meta);
        update_report_checksum.apply(hdr, meta);
    }
}

V1Switch(parse_packet(),
         verify_checksums(),
         ingress(),
         egress(),
         update_all_checksums(),
         deparse_packet()) main;
