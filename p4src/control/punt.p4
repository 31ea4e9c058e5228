// Packets for the controller, and packets from it.
//
//   to_controller(reason):    packet_in header in front, egress_spec = CPU_PORT
//   hdr.packet_out valid:     egress_spec = what the controller says, header removed
//
// Reads:  hdr.packet_out, standard_metadata.ingress_port.
// Writes: hdr.packet_in, hdr.packet_out, standard_metadata.egress_spec.
//
// Without a CPU port such packets are dropped by the switch, and counted.

#ifndef VITRINE_CONTROL_PUNT_P4
#define VITRINE_CONTROL_PUNT_P4

#include "../lib/parsers.p4"

// Any control may call this; whatever is decided later about egress_spec wins.
action to_controller(inout headers_t hdr,
                     inout standard_metadata_t standard_metadata,
                     in punt_reason_t reason) {
    standard_metadata.egress_spec = CPU_PORT;
    hdr.packet_in.setValid();
    hdr.packet_in.padding = 0;
    hdr.packet_in.ingress_port = standard_metadata.ingress_port;
    hdr.packet_in.reason = reason;
}

control from_controller(inout headers_t hdr, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = hdr.packet_out.egress_port;
        hdr.packet_out.setInvalid();
    }
}

#endif
