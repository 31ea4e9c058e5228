// switch on a value: first fit, shared labels, default.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        switch (hdr.h.a) {
            1: { hdr.h.b = 0x11; }
            2:
            3: { hdr.h.b = 0x23; }
            default: { hdr.h.b = 0xff; }
        }    }
}

#include "main.p4"
