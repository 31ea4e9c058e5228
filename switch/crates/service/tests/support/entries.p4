// A table that begins with entries which controllers may change, but for one that is const, and a
// value set whose members have masks.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> what;
    bit<8> rest;
}

struct headers_t { h_t h; }
struct metadata_t { bit<1> is_marked; }

struct marked_t {
    @match(ternary)
    bit<8> what;
    @match(lpm)
    bit<8> rest;
}

parser read(packet_in packet, out headers_t hdr, inout metadata_t meta,
            inout standard_metadata_t std_meta) {
    value_set<marked_t>(4) marked;

    state start {
        packet.extract(hdr.h);
        meta.is_marked = 0;
        transition select(hdr.h.what, hdr.h.rest) {
            marked: mark;
            default: accept;
        }
    }

    state mark {
        meta.is_marked = 1;
        transition accept;
    }
}

control nothing(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std_meta) {
    action drop() {
        mark_to_drop(std_meta);
    }

    action forward(bit<9> port) {
        std_meta.egress_spec = port;
    }

    table ways {
        key = { hdr.h.what : ternary; }
        actions = { forward; drop; }
        default_action = drop;
        entries = {
            const priority = 100 : 1 &&& 0xff : forward(1);
            priority = 50 : 2 &&& 0xff : forward(2);
            priority = 40 : 3 &&& 0xff : forward(2);
        }
    }

    table others {
        actions = { forward; drop; }
        default_action = drop;
    }

    apply {
        if (meta.is_marked == 1) {
            std_meta.egress_spec = 3;
        } else {
            if (!ways.apply().hit) {
                others.apply();
            }
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std_meta) {
    apply { }
}

control write(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.h); }
}

V1Switch(read(), nothing(), ingress(), egress(), nothing(), write()) main;
