// Entries that name a member of an action profile or a group of members, and a key that is a part of a
// field.
#include "frame.p4"

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action send(bit<9> port, bit<8> mark) {
        std.egress_spec = port;
        hdr.h.b = mark;
    }

    action_selector(HashAlgorithm.crc16, 16, 8) ways;

    table routes {
        key = {
            hdr.h.e[15:8] : exact;
            hdr.h.a : selector;
        }
        actions = { send; NoAction; }
        implementation = ways;
    }

    apply { routes.apply(); }
}

#include "main.p4"
