// Accounting: packets and bytes of each class that left their queue.
//
// Reads:  standard_metadata.priority.
// Writes: the counter class_traffic, one cell a class.
// Apply in egress. Drops of queues are not counted here; the switch counts them by reason.

#ifndef VITRINE_CONTROL_ACCOUNTING_P4
#define VITRINE_CONTROL_ACCOUNTING_P4

#include "../lib/parsers.p4"

control accounting(in standard_metadata_t standard_metadata) {
    // Read by the controller; index = class.
    counter(8, CounterType.packets_and_bytes) class_traffic;

    apply {
        class_traffic.count((bit<32>)standard_metadata.priority);
    }
}

#endif
