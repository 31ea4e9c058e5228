// ECN marking by queue depth, in P4: what the packet found in its queue decides.
//
//   can the packet be marked?  (ECN-capable, not marked yet; few packets are)
//        | yes
//        v
//   ecn_thresholds (exact: egress_port, class)
//        | set_threshold                          | no entry
//        v                                        v
//   enq_qdepth >= threshold ?  -- yes -->  CE     as it is
//
// The switch's own AQM (step, RED, CoDel, PIE) marks too, without P4; this is the same idea in the
// program, where you can try another one.
//
// Reads:  hdr, standard_metadata.{egress_port, priority, enq_qdepth}.
// Writes: hdr.ipv4.ecn, hdr.ipv6.ecn.
// Apply in egress, before checksums are computed.

#ifndef VITRINE_CONTROL_ECN_P4
#define VITRINE_CONTROL_ECN_P4

#include "../lib/parsers.p4"

control ecn_marking(inout headers_t hdr, inout standard_metadata_t standard_metadata) {
    bit<19> threshold_packets;

    // Packets that find at least this many in their queue are marked.
    action set_threshold(bit<19> depth_packets) {
        threshold_packets = depth_packets;
    }

    // Filled by the controller: one entry for each queue that marks.
    table ecn_thresholds {
        key = {
            standard_metadata.egress_port: exact;
            standard_metadata.priority: exact @name("class_num");
        }
        actions = {
            set_threshold;
            NoAction;
        }
        default_action = NoAction();
        size = 4096;
    }

    apply {
        // Most packets have 0 there, so that is tested first.
        if ((hdr.ipv4.isValid() && hdr.ipv4.ecn != ECN_NOT_ECT && hdr.ipv4.ecn != ECN_CE) ||
            (hdr.ipv6.isValid() && hdr.ipv6.ecn != ECN_NOT_ECT && hdr.ipv6.ecn != ECN_CE)) {
            // No queue is that long: without an entry nothing is marked.
            threshold_packets = 0x7ffff;
            ecn_thresholds.apply();
            if (standard_metadata.enq_qdepth >= threshold_packets) {
                if (hdr.ipv4.isValid()) {
                    hdr.ipv4.ecn = ECN_CE;
                } else {
                    hdr.ipv6.ecn = ECN_CE;
                }
            }
        }
    }
}

#endif
