// Classification: the queue in which a packet will wait at its port, and the copies of it.
//
//   addresses, protocol, DSCP, ports of a packet that will be forwarded
//        |
//   ipv4_classes or ipv6_classes (ternary, highest priority first)
//        | set_class             | set_class_and_mirror        | no entry
//        v                       v                             v
//   priority = the class     the same, and mirror.p4      priority 0, the lowest class
//
// Reads:  hdr.ipv4, hdr.ipv6, meta.l4, standard_metadata.egress_spec.
// Writes: standard_metadata.priority.
// Apply after routing and path_mtu. A class that the port does not have is dropped by the switch and counted.

#ifndef VITRINE_CONTROL_CLASSIFY_P4
#define VITRINE_CONTROL_CLASSIFY_P4

#include "mirror.p4"

control classify(in headers_t hdr,
                 in metadata_t meta,
                 inout standard_metadata_t standard_metadata) {
    // Packets and bytes of each rule.
    direct_counter(CounterType.packets_and_bytes) ipv4_rule_traffic;
    direct_counter(CounterType.packets_and_bytes) ipv6_rule_traffic;

    action set_class(class_num_t class_num) {
        standard_metadata.priority = class_num;
    }

    action set_class_and_mirror(class_num_t class_num, bit<32> session) {
        standard_metadata.priority = class_num;
        mirror(session);
    }

    // Filled by the controller from the rules of a lab; empty, all packets share class 0. A rule
    // for DSCP, prefixes, protocol and ports is one entry, so a packet looks here only once.
    table ipv4_classes {
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
            set_class_and_mirror;
            NoAction;
        }
        default_action = NoAction();
        counters = ipv4_rule_traffic;
        size = 1024;
    }

    // As above.
    table ipv6_classes {
        key = {
            hdr.ipv6.src_addr: ternary;
            hdr.ipv6.dst_addr: ternary;
            hdr.ipv6.next_header: ternary;
            hdr.ipv6.dscp: ternary;
            meta.l4.src: ternary;
            meta.l4.dst: ternary;
        }
        actions = {
            set_class;
            set_class_and_mirror;
            NoAction;
        }
        default_action = NoAction();
        counters = ipv6_rule_traffic;
        size = 1024;
    }

    apply {
        // Packets that routing or path_mtu has dropped or sent to the controller wait in no queue
        // of a class: they count for no rule, and are not copied.
        if (standard_metadata.egress_spec == DROP_PORT ||
            standard_metadata.egress_spec == CPU_PORT) {
            return;
        }
        if (hdr.ipv4.isValid()) {
            ipv4_classes.apply();
        } else if (hdr.ipv6.isValid()) {
            ipv6_classes.apply();
        }
    }
}

#endif
