// A packet goes round the loops of a control at most 10,000 times, and is dropped where the program
// goes on: nothing of a half-done loop leaves the switch.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        // a and b are the number of rounds, c says whether a second loop counts down as far again.
        bit<16> left = hdr.h.a ++ hdr.h.b;
        for (bit<16> i = 0; i < (hdr.h.a ++ hdr.h.b); i = i + 1) {
            hdr.h.e = hdr.h.e + 1;
        }
        if (hdr.h.c == 1) {
            for (; left != 0; left = left - 1) {
                hdr.h.e = hdr.h.e + 1;
            }
        }
        if (hdr.h.c == 2) {
            // Without an end of its own.
            for (; left < 10; left = 0) {
                hdr.h.d = 1;
            }
        }
    }
}

#include "main.p4"
