// Which dropped packets are reported: one for each flow, port and reason in an interval.
//
// The switch sends a packet that its queues drop through egress once more, toward the port of the
// mirror session for drops, with instance_type 7 and the reason: see docs/telemetry.md. Thousands
// of packets of one flow dropped in a row say no more than the first one, so the rest is left out.
//
// Reads:  hdr.{ipv4,ipv6}, meta.l4, standard_metadata.drop_*. Writes: meta.telemetry.{hop,report,send_report}.
// Apply in egress, to dropped packets only; `report` must follow.

#ifndef VITRINE_CONTROL_INT_DROPS_P4
#define VITRINE_CONTROL_INT_DROPS_P4

#include "../../lib/parsers.p4"

#define INT_DROP_SLOTS 4096

control int_drops(in headers_t hdr,
                  inout metadata_t meta,
                  in standard_metadata_t standard_metadata) {
    // When each slot was reported last; two flows in one slot share its interval.
    register<bit<48>>(INT_DROP_SLOTS) last_reports_us;

    bit<48> interval_us = 0;
    bit<1> unwatched_too = 0;

    // Set by the controller: how often, and whether unwatched flows are reported too.
    action report_drops(bit<48> every_us, bit<1> all_flows) {
        interval_us = every_us;
        unwatched_too = all_flows;
    }

    table int_drop_reports {
        actions = {
            report_drops;
            NoAction;
        }
        default_action = NoAction();
    }

    // The report is about the port and queue that the packet was meant for, not about those that
    // the report itself goes through.
    action describe_drop() {
        meta.telemetry.hop.ingress_port = (bit<16>)standard_metadata.ingress_port;
        meta.telemetry.hop.egress_port = (bit<16>)standard_metadata.drop_port;
        meta.telemetry.hop.queue_id = standard_metadata.drop_qid;
        meta.telemetry.hop.ingress_time = standard_metadata.ingress_time_ns;
        meta.telemetry.report.dropped = 1;
        meta.telemetry.report.drop_reason = standard_metadata.drop_reason;
        meta.telemetry.report.bitmap = INT_PORTS | INT_INGRESS_TIME | INT_REPORT_DROP;
        meta.telemetry.report.domain_id = meta.telemetry.watch.domain_id;
    }

    apply {
        int_drop_reports.apply();
        if (interval_us != 0 && (meta.telemetry.watch.watched == 1 || unwatched_too == 1)) {
            bit<32> slot = 0;
            bit<48> last_us;
            bit<48> now_us = standard_metadata.egress_global_timestamp;
            if (hdr.ipv4.isValid()) {
                hash(slot, HashAlgorithm.crc32, 32w0,
                     { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, meta.l4.src, meta.l4.dst,
                       standard_metadata.drop_port, standard_metadata.drop_reason, 7w0 },
                     (bit<32>)INT_DROP_SLOTS);
            } else if (hdr.ipv6.isValid()) {
                hash(slot, HashAlgorithm.crc32, 32w0,
                     { hdr.ipv6.src_addr, hdr.ipv6.dst_addr, meta.l4.src, meta.l4.dst,
                       standard_metadata.drop_port, standard_metadata.drop_reason, 7w0 },
                     (bit<32>)INT_DROP_SLOTS);
            }
            last_reports_us.read(last_us, slot);
            if (last_us == 0 || now_us - last_us >= interval_us) {
                last_reports_us.write(slot, now_us);
                describe_drop();
                meta.telemetry.send_report = 1;
            }
        }
    }
}

#endif
