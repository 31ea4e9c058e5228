// Which packets meet a congested queue: those that leave more behind than a threshold.
//
//   int_congestion (port, queue)
//        | watch_queue(threshold, quota, slot)
//   occupancy >= threshold ?  --no--> the event, if there was one, is over
//        | yes
//   fewer than `quota` reports of this event ?  --yes--> meta.telemetry.report.congested = 1
//
// The quota keeps a long congestion from becoming a flood of reports about it.
//
// Reads:  meta.telemetry.hop. Writes: meta.telemetry.report.congested.
// Apply in egress after `measure`. The controller gives every watched queue a slot of its own.

#ifndef VITRINE_CONTROL_INT_CONGESTION_P4
#define VITRINE_CONTROL_INT_CONGESTION_P4

#include "../../lib/parsers.p4"

// Eight queues for each of 512 ports.
#define INT_CONGESTION_SLOTS 4096

control int_congestion(inout metadata_t meta, in standard_metadata_t standard_metadata) {
    // Reports that the present event has had.
    register<bit<16>>(INT_CONGESTION_SLOTS) congestion_reports;

    bit<1> has_threshold = 0;
    bit<24> threshold_bytes = 0;
    bit<16> quota = 0;
    bit<32> slot = 0;

    action watch_queue(bit<24> threshold, bit<16> reports_max, bit<32> slot_idx) {
        has_threshold = 1;
        threshold_bytes = threshold;
        quota = reports_max;
        slot = slot_idx;
    }

    table int_congested_queues {
        key = {
            standard_metadata.egress_port: exact;
            meta.telemetry.hop.queue_id: exact;
        }
        actions = {
            watch_queue;
            NoAction;
        }
        default_action = NoAction();
        size = INT_CONGESTION_SLOTS;
    }

    apply {
        int_congested_queues.apply();
        // An occupancy of ones is one the switch does not know.
        if (has_threshold == 1 && meta.telemetry.hop.queue_occupancy != 0xffffff) {
            bit<16> reports;
            congestion_reports.read(reports, slot);
            if (meta.telemetry.hop.queue_occupancy < threshold_bytes) {
                reports = 0;
            } else if (reports < quota) {
                reports = reports + 1;
                meta.telemetry.report.congested = 1;
            }
            congestion_reports.write(slot, reports);
        }
    }
}

#endif
