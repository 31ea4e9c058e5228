// The queue counts as deep at half of the threshold.

#include "base.p4"

// From this depth on a queue is deep; at half of it or less it is low again.
const bit<32> DEEP_BYTES = 30000;

control telemetry(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    // The most that this build-up has left behind; 0: the queue is low.
    register<bit<32>>(1) deepest_bytes;
    // Of the queue when it was deepest, the bytes that have not left.
    register<bit<32>>(1) remaining_bytes;

    apply {
        // meta.depth_bytes becomes what the packet leaves behind in the queue.
        describe(meta, standard_metadata);
        bit<32> deepest;
        bit<32> remaining;
        deepest_bytes.read(deepest, 0);
        remaining_bytes.read(remaining, 0);
        if (meta.depth_bytes >= DEEP_BYTES / 2 && meta.depth_bytes > deepest) {
            deepest = meta.depth_bytes;
            remaining = meta.depth_bytes;
            send_report();
        } else if (remaining > 0) {
            remaining = remaining |-| standard_metadata.packet_length;
            send_report();
        }
        if (meta.depth_bytes <= DEEP_BYTES / 4) {
            deepest = 0;
        }
        deepest_bytes.write(0, deepest);
        remaining_bytes.write(0, remaining);
    }
}

#include "main.p4"
