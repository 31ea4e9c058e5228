// Classification: which queue of its port a packet will wait in.
//
//   addresses, protocol, DSCP, ports
//        |
//   classes (ternary, highest priority first)
//        | set_class             | no entry
//        v                       v
//   priority = the class       priority 0, the lowest class
//
// Reads:  hdr.ipv4, meta.l4.
// Writes: standard_metadata.priority.
// Apply after routing. A class that the port does not have is dropped by the switch and counted.

#ifndef VITRINE_CONTROL_CLASSIFY_P4
#define VITRINE_CONTROL_CLASSIFY_P4

#include "../lib/parsers.p4"

control classify(in headers_t hdr,
                 in metadata_t meta,
                 inout standard_metadata_t standard_metadata) {
    // Counts packets and bytes of each rule.
    direct_counter(CounterType.packets_and_bytes) class_traffic;

    action set_class(bit<3> class_num) {
        standard_metadata.priority = class_num;
    }

    // Filled by the controller from the rules of a lab; empty, all packets share class 0.
    table classes {
        key = {
            hdr.ipv4.src_addr: ternary;
            hdr.ipv4.dst_addr: ternary;
            hdr.ipv4.protocol: ternary;
            hdr.ipv4.dscp: ternary;
            meta.l4.src: ternary;
            meta.l4.dst: ternary;
        }
        actions = {
            set_class;
            NoAction;
        }
        default_action = NoAction();
        counters = class_traffic;
        size = 1024;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            classes.apply();
        }
    }
}

#endif
