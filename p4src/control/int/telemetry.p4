// In-band telemetry in egress: the order of its parts.
//
//                        +-- copy made for a report ----> report -> collector
//                        +-- dropped by the queues -----> drops -> report -> collector
//   a packet leaves -----+-- a mirror's copy -----------> untouched
//                        +-- any other of a watched flow -> hop
//
// Reads:  all of INT's headers and metadata, standard_metadata. Writes: see the parts.
// Apply last in egress: the copy and the checksums must see the packet as it leaves.

#ifndef VITRINE_CONTROL_INT_TELEMETRY_P4
#define VITRINE_CONTROL_INT_TELEMETRY_P4

#include "../../lib/parsers.p4"
#include "drops.p4"
#include "hop.p4"
#include "report.p4"

// The packet's history, as v1model counts it; 7 is Vitrine's.
const bit<32> INSTANCE_INGRESS_CLONE = 1;
const bit<32> INSTANCE_EGRESS_CLONE = 2;
const bit<32> INSTANCE_DROPPED = 7;

control int_telemetry(inout headers_t hdr,
                      inout metadata_t meta,
                      inout standard_metadata_t standard_metadata) {
    action set_node(bit<32> node_id, bit<32> report_session) {
        meta.telemetry.node_id = node_id;
        meta.telemetry.report_session = report_session;
    }

    // Set by the controller. Without it the node takes no part in INT.
    table int_node {
        actions = {
            set_node;
            NoAction;
        }
        default_action = NoAction();
    }

    apply {
        bool is_copy = standard_metadata.instance_type == INSTANCE_EGRESS_CLONE;
        bool is_dropped = standard_metadata.instance_type == INSTANCE_DROPPED;
        bool is_mirrored = standard_metadata.instance_type == INSTANCE_INGRESS_CLONE;
        int_node.apply();
        if (is_copy) {
            meta.telemetry.send_report = 1;
        } else if (is_dropped) {
            int_drops.apply(hdr, meta, standard_metadata);
        }
        if (is_copy || is_dropped) {
            int_report.apply(hdr, meta, standard_metadata);
        } else if (!is_mirrored && meta.telemetry.watch.watched == 1
                   && meta.telemetry.node_id != 0) {
            int_hop.apply(hdr, meta, standard_metadata);
        }
    }
}

#endif
