// A router with committed rates, for the Portable Switch Architecture. This file only wires.
//
//   parse_ingress (checksum verified)
//        |
//   ingress: from the controller?  yes: to the port that it names
//                                  no:  psa_routing -> metering
//        |
//   deparse_ingress (checksum computed; the packet's tag goes along as normal_meta)
//        |
//   queues, scheduler: class_of_service is the queue (the switch, not P4)
//        |
//   parse_egress -> egress: metered_departures -> deparse_egress

#include <core.p4>
#include <psa.p4>
#include "../lib/psa_frames.p4"
#include "../control/psa_routing.p4"
#include "../control/metering.p4"

control ingress(inout headers_t hdr,
                inout metadata_t meta,
                in psa_ingress_input_metadata_t istd,
                inout psa_ingress_output_metadata_t ostd) {
    apply {
        if (hdr.packet_out.isValid()) {
            send_to_port(ostd, (PortId_t) (PortIdUint_t) hdr.packet_out.egress_port);
            hdr.packet_out.setInvalid();
        } else {
            psa_routing.apply(hdr, istd, ostd);
            metering.apply(hdr, meta, ostd);
        }
    }
}

control egress(inout headers_t hdr,
               inout metadata_t meta,
               in psa_egress_input_metadata_t istd,
               inout psa_egress_output_metadata_t ostd) {
    apply {
        metered_departures.apply(meta);
    }
}

PSA_Switch(IngressPipeline(parse_ingress(), ingress(), deparse_ingress()),
           PacketReplicationEngine(),
           EgressPipeline(parse_egress(), egress(), deparse_egress()),
           BufferingQueueingEngine()) main;
