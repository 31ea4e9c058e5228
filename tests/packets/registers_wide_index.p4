// An index may be computed in more than 64 bits: here shifting out all but six of them.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<8>>(4) memory;
    apply {
        std.egress_spec = 1;
        memory.read(hdr.h.b, (bit<32>)(((bit<72>)hdr.h.a << 66) >> 66));
        memory.write((bit<32>)(((bit<72>)hdr.h.a << 66) >> 66), hdr.h.c);
    }
}

#include "main.p4"
