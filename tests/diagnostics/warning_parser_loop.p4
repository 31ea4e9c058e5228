#include <core.p4>
header h_t { bit<8> a; }
parser p(packet_in packet, out h_t h) {
    state start {
        packet.extract(h);
        transition look;
    }
    state look {
        transition select(packet.lookahead<bit<8>>()) {
            1: wait;
            default: accept;
        }
    }
    state wait {
        transition look;
    }
}
parser fine(packet_in packet, out h_t h) {
    state start {
        transition select(packet.lookahead<bit<8>>()) {
            1: skip;
            default: accept;
        }
    }
    state skip {
        packet.extract(h);
        transition start;
    }
}
/* expected
warning_parser_loop.p4:8:11: warning[parser-loop]: state `look` leads back to itself without reading anything
    8 |     state look {
      |           ^^^^
   hint: extract a header or call advance() in it, so that the packet gets shorter
*/
