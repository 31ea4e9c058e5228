// A register keeps its value from packet to packet; a slice can be its destination.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<8>>(4) memory;
    apply {
        std.egress_spec = 1;
        memory.read(hdr.h.b, (bit<32>)hdr.h.a);
        memory.write((bit<32>)hdr.h.a, hdr.h.c);    }
}

#include "main.p4"
