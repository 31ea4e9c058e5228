// Sampled mirroring: one packet in N is reported, at any depth.

#include "base.p4"

control telemetry(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    // Set by the controller.
    register<bit<32>>(1) one_in;
    register<bit<32>>(1) since_sample;

    apply {
        bit<32> every;
        bit<32> count;
        one_in.read(every, 0);
        since_sample.read(count, 0);
        count = count + 1;
        if (count >= every) {
            count = 0;
            describe(meta, standard_metadata);
            meta.packets = every;
            send_report();
        }
        since_sample.write(0, count);
    }
}

#include "main.p4"
