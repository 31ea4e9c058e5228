// Multi-hop route inspection: a probe comes out of the network with its way written into it, and with
// how long it waited before each line.
//
//   ingress: ipv4_routes: MACs and port        egress: a hop of the trail, for probes
//
// Each hop is named by the Ethernet address of the port that the probe left by. Click a packet to UDP
// port 5005 to see its hops; lib/trail.p4 says how they lie in it.
// To try: report the queue's bytes, too (deq_qdepth_bytes). Write into every tenth packet
// only. What does a probe not see that a counter does?

#include <core.p4>
#include <v1model.p4>
#include "../lib/hops.p4"

typedef waiting_hop_t hop_t;

const bit<16> HOP_BYTES = WAITING_HOP_BYTES;

#include "../lib/trail.p4"

control ingress(inout headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    apply {
        routing.apply(hdr, standard_metadata);
    }
}

control egress(inout headers_t hdr,
               inout metadata_t meta,
               inout standard_metadata_t standard_metadata) {
    apply {
        bit<16> known = hdr.trail.isValid() ? hdr.trail.hop_count : 0;
        trail.apply(hdr);
        if (hdr.trail.isValid() && hdr.trail.hop_count > known) {
            hdr.hops[0].port = hdr.ethernet.src_addr;
            hdr.hops[0].waited_us = standard_metadata.deq_timedelta;
            hdr.hops[0].depth = (bit<16>) standard_metadata.deq_qdepth;
        }
    }
}

V1Switch(parse_packet(),
         verify_checksums(),
         ingress(),
         egress(),
         update_checksums(),
         deparse_packet()) main;
