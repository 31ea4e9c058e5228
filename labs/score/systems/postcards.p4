// Postcards with a threshold: each packet that leaves a deep queue behind is reported.
//
//   leaves its queue:  depth >= threshold?  yes: report

#include "base.p4"

control telemetry(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    // Set by the controller.
    register<bit<32>>(1) threshold_bytes;

    apply {
        bit<32> threshold;
        threshold_bytes.read(threshold, 0);
        describe(meta, standard_metadata);
        if (meta.depth_bytes >= threshold) {
            send_report();
        }
    }
}

#include "main.p4"
