// This node's measurements of a packet that leaves: its ports, its time inside, its queue.
//
//   standard_metadata (the switch's own figures)  ->  meta.telemetry.hop (units of INT, ones if unknown)
//
// Reads:  standard_metadata. Writes: meta.telemetry.hop.
// Apply in egress, before everything else of INT.
//
// Vitrine's switch gives times in nanoseconds and queues in bytes. simple_switch gives
// microseconds and packets: times are then multiples of 1000, and what it does not have is unknown.

#ifndef VITRINE_CONTROL_INT_MEASURE_P4
#define VITRINE_CONTROL_INT_MEASURE_P4

#include "../../lib/parsers.p4"

// All instructions but the reserved bits and the checksum complement, which is no measurement.
const bit<16> INT_ALL_KNOWN = 0xff80;
// Of those, what every BMv2 switch measures: all but utilisation and buffer.
const bit<16> INT_KNOWN_EVERYWHERE = 0xfe00;

control int_measure(inout metadata_t meta, in standard_metadata_t standard_metadata) {
    action take_exact_figures() {
        meta.telemetry.hop.ingress_time = standard_metadata.ingress_time_ns;
        meta.telemetry.hop.egress_time = standard_metadata.egress_time_ns;
        meta.telemetry.hop.hop_latency =
            (bit<32>)(standard_metadata.egress_time_ns - standard_metadata.ingress_time_ns);
        meta.telemetry.hop.queue_occupancy = standard_metadata.deq_qdepth_bytes[23:0];
        meta.telemetry.hop.utilisation = (bit<32>)standard_metadata.port_utilisation;
        meta.telemetry.hop.buffer_occupancy = standard_metadata.buffer_bytes[23:0];
        meta.telemetry.hop.available = INT_ALL_KNOWN;
    }

    action take_microseconds() {
        meta.telemetry.hop.ingress_time = 1000 * (bit<64>)standard_metadata.ingress_global_timestamp;
        meta.telemetry.hop.egress_time = 1000 * (bit<64>)standard_metadata.egress_global_timestamp;
        meta.telemetry.hop.hop_latency =
            1000 * (bit<32>)(standard_metadata.egress_global_timestamp
                             - standard_metadata.ingress_global_timestamp);
        meta.telemetry.hop.queue_occupancy = 0xffffff;
        meta.telemetry.hop.utilisation = 0xffffffff;
        meta.telemetry.hop.buffer_occupancy = 0xffffff;
        meta.telemetry.hop.available = INT_KNOWN_EVERYWHERE;
    }

    apply {
        meta.telemetry.hop.ingress_port = (bit<16>)standard_metadata.ingress_port;
        meta.telemetry.hop.egress_port = (bit<16>)standard_metadata.egress_port;
        meta.telemetry.hop.queue_id = standard_metadata.qid;
        if (standard_metadata.is_exact == 1) {
            take_exact_figures();
        } else {
            take_microseconds();
        }
    }
}

#endif
