// Each packet that leaves a deep queue behind.

#include "base.p4"

// From this depth on a queue is deep; at half of it or less it is low again.
const bit<32> DEEP_BYTES = 30000;

control telemetry(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    apply {
        // meta.depth_bytes becomes what the packet leaves behind in the queue.
        describe(meta, standard_metadata);
        if (meta.depth_bytes >= DEEP_BYTES) {
            send_report();
        }
    }
}

#include "main.p4"
