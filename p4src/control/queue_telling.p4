// Queue telemetry in six bits: packets carry the greatest depth of a queue on their path; the last
// router notifies the first one when that is too deep.
//
//   first router:   DSCP = 0
//   every router:   DSCP = the greater of itself and the depth that the packet found, up to 63
//   last router:    DSCP = 0 again;  was it `threshold` or more?
//        |                           yes: a copy, cut to its IP header, goes back where it came from
//        v
//   to the host     copy: addresses turned round, protocol 253, so that it is routed to the sender's
//                   first router, by the same path; that one keeps it
//
// No packet becomes longer. It costs the DSCP, which hosts cannot use across these routers.
//
// Reads:  hdr, standard_metadata. Writes: hdr.ipv4, meta.balancing, and a copy's whole header.
// Apply queue_telling_ingress after routing and before balancing, queue_telling_egress in egress.

#ifndef VITRINE_CONTROL_QUEUE_TELLING_P4
#define VITRINE_CONTROL_QUEUE_TELLING_P4

#include "../lib/parsers.p4"

// RFC 3692: for experiments.
const bit<8>  IP_PROTOCOL_FEEDBACK = 253;
const bit<8>  FEEDBACK_TTL = 64;
const bit<32> FEEDBACK_BYTES = 34;
// The maximum of six bits; a queue of 64 packets is full for the packet that finds 64.
const bit<6>  DEEPEST = 63;
// The clone session of a port is this and its number.
const bit<32> FEEDBACK_SESSIONS = 1000;
const bit<32> INGRESS_CLONE = 1;

control queue_telling_ingress(inout headers_t hdr,
                              inout metadata_t meta,
                              inout standard_metadata_t standard_metadata) {
    // When each port's path was last told about, in microseconds.
    register<bit<48>>(512) told_at;
    // Copies that were sent.
    counter(1, CounterType.packets) feedback;

    bit<6>  threshold = 0;
    bit<48> every_us = 0;

    action tell(bit<6> from_packets, bit<48> every) {
        threshold = from_packets;
        every_us = every;
    }

    // Set by the controller as the default action; a threshold of 0 reports nothing.
    table telling {
        actions = {
            tell;
        }
        default_action = tell(0, 0);
    }

    action enter() {
        hdr.ipv4.dscp = 0;
    }

    // Filled by the controller: the ports with hosts.
    table from_hosts {
        key = {
            standard_metadata.ingress_port: exact;
        }
        actions = {
            enter;
            NoAction;
        }
        default_action = NoAction();
        size = 512;
    }

    action leave() {
        meta.balancing.is_leaving = true;
    }

    // As above.
    table to_hosts {
        key = {
            standard_metadata.egress_spec: exact;
        }
        actions = {
            leave;
            NoAction;
        }
        default_action = NoAction();
        size = 512;
    }

    apply {
        meta.balancing.is_leaving = false;
        meta.balancing.is_told_full = false;
        meta.balancing.is_feedback = 0;
        if (!hdr.ipv4.isValid()) {
            return;
        }
        from_hosts.apply();
        to_hosts.apply();
        if (!meta.balancing.is_leaving) {
            return;
        }
        if (hdr.ipv4.protocol == IP_PROTOCOL_FEEDBACK) {
            meta.balancing.is_told_full = true;
            return;
        }
        telling.apply();
        if (threshold != 0 && hdr.ipv4.dscp >= threshold) {
            bit<32> port = (bit<32>)standard_metadata.ingress_port;
            bit<48> now = standard_metadata.ingress_global_timestamp;
            bit<48> told = 0;
            told_at.read(told, port);
            if (told == 0 || now - told >= every_us) {
                told_at.write(port, now);
                feedback.count(0);
                // The copy is made, and gets its fields, when ingress ends.
                meta.balancing.is_feedback = 1;
                clone_preserving_field_list(CloneType.I2E, FEEDBACK_SESSIONS + port,
                                            FEEDBACK_FIELDS);
            }
        }
        hdr.ipv4.dscp = 0;
    }
}

control queue_telling_egress(inout headers_t hdr,
                             inout metadata_t meta,
                             inout standard_metadata_t standard_metadata) {
    // A copy has the headers that arrived: it goes back with the DSCP that it reports.
    action turn_round() {
        mac_addr_t here = hdr.ethernet.dst_addr;
        hdr.ethernet.dst_addr = hdr.ethernet.src_addr;
        hdr.ethernet.src_addr = here;
        ipv4_addr_t target = hdr.ipv4.dst_addr;
        hdr.ipv4.dst_addr = hdr.ipv4.src_addr;
        hdr.ipv4.src_addr = target;
        hdr.ipv4.ihl = 5;
        hdr.ipv4.protocol = IP_PROTOCOL_FEEDBACK;
        hdr.ipv4.ttl = FEEDBACK_TTL;
        hdr.ipv4.total_len = 20;
        hdr.ipv4_options.setInvalid();
        truncate(FEEDBACK_BYTES);
    }

    apply {
        if (!hdr.ipv4.isValid()) {
            return;
        }
        if (standard_metadata.instance_type == INGRESS_CLONE) {
            if (meta.balancing.is_feedback == 1) {
                turn_round();
            }
            return;
        }
        if (meta.balancing.is_leaving || hdr.ipv4.protocol == IP_PROTOCOL_FEEDBACK) {
            return;
        }
        bit<6> found = DEEPEST;
        if (standard_metadata.enq_qdepth < 63) {
            found = standard_metadata.enq_qdepth[5:0];
        }
        if (found > hdr.ipv4.dscp) {
            hdr.ipv4.dscp = found;
        }
    }
}

#endif
