#include <core.p4>
header h_t { bit<8> a; }
struct m_t { bit<8> left; bit<8> kind; bit<8> rounds; }
// Nothing gets shorter, and the options that are left are not counted down.
parser forgotten(packet_in packet, out h_t h, inout m_t meta) {
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
        meta.rounds = meta.rounds + 1;
        transition options;
    }
}
// The same byte is looked at again and again.
parser looking(packet_in packet, inout m_t meta) {
    state start {
        meta.kind = packet.lookahead<bit<8>>();
        bit<8> kind = meta.kind & 0xf;
        transition select(kind) {
            1: start;
            default: accept;
        }
    }
}
// Whatever it counts, it never looks at the counter.
parser unconditional(packet_in packet, inout m_t meta) {
    state start {
        transition select(packet.lookahead<bit<8>>()) {
            1: count;
            default: accept;
        }
    }
    state count {
        meta.left = meta.left - 1;
        packet.advance(0);
        transition count;
    }
}
/* expected
warning_parser_loop_with_statements.p4:11:11: warning[parser-loop]: state `options` leads back to itself without reading anything
   11 |     state options {
      |           ^^^^^^^
   hint: extract a header or call advance() in it, so that the packet gets shorter
warning_parser_loop_with_statements.p4:24:11: warning[parser-loop]: state `start` leads back to itself without reading anything
   24 |     state start {
      |           ^^^^^
   hint: extract a header or call advance() in it, so that the packet gets shorter
warning_parser_loop_with_statements.p4:41:11: warning[parser-loop]: state `count` leads back to itself without reading anything
   41 |     state count {
      |           ^^^^^
   hint: extract a header or call advance() in it, so that the packet gets shorter
*/
