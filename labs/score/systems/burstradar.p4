// BurstRadar: every packet of a burst is reported, also those that leave a shallow queue behind.
//
//   leaves its queue:  depth >= threshold?  remaining = depth; report
//                      remaining > 0?       remaining -= length; report
//
// So all packets that were in the queue when it was last deep are seen. The paper stores them in a
// ring buffer that courier packets empty; here each is cloned to the controller at once.

#include "base.p4"

control telemetry(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    // Set by the controller.
    register<bit<32>>(1) threshold_bytes;
    // Of the queue when it was last deep, the bytes that have not left.
    register<bit<32>>(1) remaining_bytes;

    apply {
        bit<32> threshold;
        bit<32> remaining;
        threshold_bytes.read(threshold, 0);
        remaining_bytes.read(remaining, 0);
        describe(meta, standard_metadata);
        if (meta.depth_bytes >= threshold) {
            remaining_bytes.write(0, meta.depth_bytes);
            send_report();
        } else if (remaining > 0) {
            remaining_bytes.write(0, remaining |-| standard_metadata.packet_length);
            send_report();
        }
    }
}

#include "main.p4"
