// log_msg, assert and assume do not change the packet.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        log_msg("a is {}", { hdr.h.a });
        log_msg("no values");
        assert(hdr.h.isValid());
        assume(hdr.h.a < 200);
        hdr.h.b = 0x0b;    }
}

#include "main.p4"
