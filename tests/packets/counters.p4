// Counters, direct and indexed, leave the packet alone.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    counter(8, CounterType.packets_and_bytes) by_value;
    direct_counter(CounterType.packets) by_entry;
    action count_it() { by_entry.count(); }
    table t {
        key = { hdr.h.a : exact; }
        actions = { count_it; NoAction; }
        default_action = NoAction;
        counters = by_entry;
    }
    apply {
        std.egress_spec = 1;
        by_value.count((bit<32>)hdr.h.a);
        t.apply();
    }
}

#include "main.p4"
