// A link monitor: routers count what they send, and probes carry the counts away.
//
//   ingress: ipv4_routes: MACs and port
//   egress:  bytes of the port += this packet; a probe takes the sum along and begins a new one
//
// A hop says how many bytes a port has sent since the last probe, and in how much time: eight times the
// one by the other is the line's rate in Mb/s. A monitor needs no access to routers.
// To try: count packets instead. Count by flow. What do two monitors do to each other's counts?

#include <core.p4>
#include <v1model.p4>
#include "../lib/hops.p4"

typedef load_hop_t hop_t;

const bit<16> HOP_BYTES = LOAD_HOP_BYTES;
const bit<32> PORT_COUNT = 512;

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
    register<bit<32>>(PORT_COUNT) sent_bytes;
    register<bit<48>>(PORT_COUNT) probed_at_us;

    apply {
        bit<32> port = (bit<32>) standard_metadata.egress_port;
        bit<32> sent;
        sent_bytes.read(sent, port);
        bit<16> known = hdr.trail.isValid() ? hdr.trail.hop_count : 0;
        trail.apply(hdr);
        if (hdr.trail.isValid() && hdr.trail.hop_count > known) {
            bit<48> last;
            probed_at_us.read(last, port);
            hdr.hops[0].port = hdr.ethernet.src_addr;
            hdr.hops[0].sent_bytes = sent;
            hdr.hops[0].span_us = (bit<32>) (standard_metadata.egress_global_timestamp - last);
            probed_at_us.write(port, standard_metadata.egress_global_timestamp);
            sent = 0;
        }
        sent_bytes.write(port, sent + standard_metadata.packet_length);
    }
}

V1Switch(parse_packet(),
         verify_checksums(),
         ingress(),
         egress(),
         update_checksums(),
         deparse_packet()) main;
