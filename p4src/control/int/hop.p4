// A watched packet leaves this node: it gets INT, or more of it, or loses it; and is reported.
//
//   ports: this port's configuration   measure: what this node knows
//     |
//   edge of the domain ?
//     | yes: strip        | no: insert
//     v                   v
//   repair lengths and checksum
//     |
//   congestion; INT-MX, INT-XD and the sink of INT-MD report every packet
//     |
//   a copy for the report, if there is one to be made
//
// Reads:  hdr.int_*, meta.telemetry.{watch,node_id}, standard_metadata.
// Writes: hdr.int_*, meta.telemetry; starts the copy.

#ifndef VITRINE_CONTROL_INT_HOP_P4
#define VITRINE_CONTROL_INT_HOP_P4

#include "../../lib/parsers.p4"
#include "congestion.p4"
#include "insert.p4"
#include "measure.p4"
#include "repair.p4"
#include "strip.p4"

control int_hop(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    action set_port(bit<1> is_edge, bit<16> mtu) {
        meta.telemetry.egress_is_edge = is_edge;
        meta.telemetry.mtu = mtu;
    }

    // Set by the controller: a port that is not here has no room for INT.
    table int_egress_ports {
        key = {
            standard_metadata.egress_port: exact;
        }
        actions = {
            set_port;
            NoAction;
        }
        default_action = NoAction();
        size = 512;
    }

    // This node's part of a report: the requested metadata, as far as this switch has it. The node
    // id is in the report's header, and a report has no complement.
    action report_packet(in bit<16> asked_for, in bit<16> domain_id) {
        meta.telemetry.report.tracked = 1;
        meta.telemetry.report.bitmap = asked_for & meta.telemetry.hop.available & ~INT_NODE_ID;
        meta.telemetry.report.domain_id = domain_id;
    }

    action report_congestion() {
        meta.telemetry.report.bitmap = (INT_PORTS | INT_HOP_LATENCY | INT_QUEUE | INT_INGRESS_TIME
                                  | INT_EGRESS_TIME) & meta.telemetry.hop.available;
        meta.telemetry.report.domain_id = meta.telemetry.watch.domain_id;
    }

    // Packets whose stack is longer than the sink can take out. They are dropped, because the host
    // would take the stack for data.
    counter(1, CounterType.packets) unreadable_stacks;

    apply {
        int_egress_ports.apply();
        int_measure.apply(meta, standard_metadata);
        bool has_int = false;
        bool is_source = meta.telemetry.watch.source == 1;
        bool is_edge = meta.telemetry.egress_is_edge == 1;
        bit<4> int_type = meta.telemetry.watch.int_type;
        bit<16> asked_for = meta.telemetry.watch.bitmap;
        bit<16> domain_id = meta.telemetry.watch.domain_id;
        // Metadata that a packet carries already has been decided by its source.
        if (hdr.int_shim.isValid() && hdr.int_header.isValid()) {
            has_int = true;
            int_type = hdr.int_shim.int_type;
            asked_for = hdr.int_header.bitmap;
            domain_id = hdr.int_header.domain_id;
        }
        // The sink of INT-MD reports for all nodes; of the other kinds every node does.
        if (meta.telemetry.watch.postcard == 1
            || ((has_int || is_source) && (is_edge || int_type == INT_TYPE_MX))) {
            report_packet(asked_for, domain_id);
        }
        if (has_int && is_edge && meta.telemetry.stack_parsed == 0) {
            unreadable_stacks.count(0);
            mark_to_drop(standard_metadata);
        } else if (has_int || (is_source && !is_edge)) {
            // Where a flow enters and leaves at one node, there is nothing to put in.
            int_remember.apply(hdr, meta);
            if (is_edge) {
                int_strip.apply(hdr, meta);
            } else {
                int_insert.apply(hdr, meta);
            }
            int_repair.apply(hdr, meta);
        }
        int_congestion.apply(meta, standard_metadata);
        if (meta.telemetry.report.congested == 1 && meta.telemetry.report.tracked == 0) {
            report_congestion();
        }
        if (meta.telemetry.report.congested == 1 || meta.telemetry.report.tracked == 1) {
            clone_preserving_field_list(CloneType.E2E, meta.telemetry.report_session,
                                        INT_REPORT_FIELDS);
        }
    }
}

#endif
