// The queue as it is at the first packet of each window of 2^20 ns, about a millisecond.

#include "base.p4"

// From this depth on a queue is deep; at half of it or less it is low again.
const bit<32> DEEP_BYTES = 30000;

control telemetry(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    // The window of the last look.
    register<bit<32>>(1) window;
    // Of the queue at that look, the bytes that have not left.
    register<bit<32>>(1) remaining_bytes;

    apply {
        // meta.depth_bytes becomes what the packet leaves behind in the queue.
        describe(meta, standard_metadata);
        bit<32> last;
        bit<32> remaining;
        window.read(last, 0);
        remaining_bytes.read(remaining, 0);
        bit<32> now = (bit<32>) (meta.time_ns >> 20);
        if (now != last) {
            window.write(0, now);
            if (meta.depth_bytes >= DEEP_BYTES) {
                remaining = meta.depth_bytes;
                send_report();
            }
        } else if (remaining > 0) {
            remaining = remaining |-| standard_metadata.packet_length;
            send_report();
        }
        remaining_bytes.write(0, remaining);
    }
}

#include "main.p4"
