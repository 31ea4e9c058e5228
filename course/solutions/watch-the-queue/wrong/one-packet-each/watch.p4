// The first packet of each build-up.

#include "base.p4"

// From this depth on a queue is deep; at half of it or less it is low again.
const bit<32> DEEP_BYTES = 30000;

control telemetry(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    // The most that this build-up has left behind; 0: the queue is low.
    register<bit<32>>(1) deepest_bytes;

    apply {
        // meta.depth_bytes becomes what the packet leaves behind in the queue.
        describe(meta, standard_metadata);
        bit<32> deepest;
        deepest_bytes.read(deepest, 0);
        if (meta.depth_bytes >= DEEP_BYTES && deepest == 0) {
            deepest = meta.depth_bytes;
            send_report();
        }
        if (meta.depth_bytes <= DEEP_BYTES / 2) {
            deepest = 0;
        }
        deepest_bytes.write(0, deepest);
    }
}

#include "main.p4"
