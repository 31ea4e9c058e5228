// truncate cuts the packet when it leaves.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        truncate(4);    }
}

#include "main.p4"
