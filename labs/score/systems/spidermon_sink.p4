// SpiderMon, second router: a packet that has waited too long on all routers sends a trace back.
//
//   leaves toward the receiver:  wait = what it carries + the wait here
//      wait >= threshold, and no trace of its flow in this epoch?  trace back to the first router

#include "base.p4"
#include "spidermon_wait.p4"

const bit<32> COLUMNS = 256;
// The headers that name the flow.
const bit<32> TRACE_BYTES = 38;

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
    // Set by the controller: the port toward the receiver, and the threshold in units of WAIT_SHIFT.
    register<bit<16>>(1) watched_port;
    register<bit<32>>(1) threshold;
    // The epoch in which a flow was last traced.
    register<bit<32>>(COLUMNS) traced;

    apply {
        bit<16> watched;
        watched_port.read(watched, 0);
        if (standard_metadata.instance_type == EGRESS_CLONE) {
            hdr.ethernet.ether_type = ETHERTYPE_TRACE;
            truncate(TRACE_BYTES);
        } else if ((bit<16>)standard_metadata.egress_port == watched && hdr.ipv4.isValid()) {
            bit<32> least;
            bit<32> column;
            bit<32> last;
            bit<32> epoch = EPOCH(standard_metadata.egress_time_ns);
            threshold.read(least, 0);
            hdr.ipv4.identification = hdr.ipv4.identification |+| WAIT(standard_metadata);
            if ((bit<32>)hdr.ipv4.identification >= least) {
                hash(column, HashAlgorithm.crc32, 32w0, { FLOW(hdr, meta) }, COLUMNS);
                traced.read(last, column);
                if (last != epoch) {
                    traced.write(column, epoch);
                    // The clone has the headers as they are here: it carries the wait back.
                    send_report();
                }
            }
        }
    }
}

V1Switch(parse_packet(),
         verify_checksums(),
         ingress(),
         egress(),
         update_checksums(),
         deparse_packet()) main;
