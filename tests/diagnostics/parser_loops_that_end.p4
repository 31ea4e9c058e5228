#include <core.p4>
header h_t { bit<8> a; }
struct m_t { bit<8> left; bit<8> kind; }
parser counts_down(packet_in packet, out h_t h, inout m_t meta) {
    state start {
        packet.extract(h);
        meta.left = h.a;
        transition options;
    }
    state options {
        transition select(meta.left) {
            0: accept;
            default: option;
        }
    }
    state option {
        meta.left = meta.left - 1;
        transition options;
    }
}
parser reads_on(packet_in packet, inout m_t meta) {
    h_t[4] labels;
    state start {
        meta.kind = packet.lookahead<bit<8>>();
        transition select(meta.kind) {
            1: label;
            default: accept;
        }
    }
    state label {
        packet.extract(labels.next);
        transition start;
    }
}
parser skips(packet_in packet, inout m_t meta) {
    state start {
        transition select(packet.lookahead<bit<8>>()) {
            1: skip;
            default: accept;
        }
    }
    state skip {
        packet.advance(8);
        transition start;
    }
}
parser remembers(packet_in packet, inout m_t meta) {
    state start {
        transition select(meta.kind) {
            0: first;
            default: accept;
        }
    }
    state first {
        meta.kind = 1;
        transition start;
    }
}
parser refuses(packet_in packet, inout m_t meta) {
    state start {
        transition select(packet.lookahead<bit<8>>()) {
            1: count;
            default: accept;
        }
    }
    state count {
        meta.left = meta.left - 1;
        verify(meta.left > 0, error.NoMatch);
        transition count;
    }
}
/* expected
*/
