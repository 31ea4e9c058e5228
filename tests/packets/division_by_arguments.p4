// A divisor that every call gives as a constant is known once the calls are inlined.
# frame.p4 has the rest of the program; this line is a comment, as it is for p4c.
#8 bits
#include "frame.p4"

bit<8> quotient(in bit<8> number, in bit<8> by) {
    return number / by;
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action remainder(inout bit<8> number, bit<8> by) {
        number = number % by;
    }

    apply {
        std.egress_spec = 1;
        remainder(hdr.h.a, 8);
        remainder(hdr.h.b, 16);
        hdr.h.c = quotient(hdr.h.c, 4);
        hdr.h.d = quotient(7, 2);
    }
}

#include "main.p4"
