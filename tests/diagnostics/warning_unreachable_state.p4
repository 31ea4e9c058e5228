#include <core.p4>
header h_t { bit<8> x; }
parser p(packet_in packet, out h_t h) {
    state start {
        packet.extract(h);
        transition accept;
    }
    state forgotten {
        transition accept;
    }
}
/* expected
warning_unreachable_state.p4:8:11: warning[unreachable-state]: no transition leads to state `forgotten`
    8 |     state forgotten {
      |           ^^^^^^^^^
   hint: name it in a `transition`, or leave it out
*/
