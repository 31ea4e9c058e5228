// Earliest deadline first: the rank is the instant by which a packet should have left.
//
//   routing -> classify -> a delay by the DSCP -> rank = arrival + delay
//
// A queue with `order: rank` serves the most urgent packet. Ranks count microseconds and begin anew
// after 71 minutes.

#include "paths.p4"

control decide(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    action within(bit<32> delay_us) {
        meta.rank = (bit<32>)standard_metadata.ingress_global_timestamp + delay_us;
    }

    // Filled by the controller, or as here: expedited forwarding, assured forwarding, the rest.
    table deadlines {
        key = {
            hdr.ipv4.dscp: exact;
        }
        actions = {
            within;
        }
        const entries = {
            46: within(1000);
            34: within(10000);
        }
        default_action = within(100000);
    }

    apply {
        if (hdr.ipv4.isValid()) {
            deadlines.apply();
            set_rank(meta.rank);
        }
    }
}

#include "router.p4"
