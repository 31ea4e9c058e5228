#include <core.p4>
parser p(packet_in packet) {
    state start {
        transition more;
    }
    state more {
        packet.advance(8);
        transition start;
    }
}
/* expected
parser_goes_round.p4:2:1: error: this parser never reaches `accept` or `reject`
    2 | parser p(packet_in packet) {
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   hint: one of its states needs `transition accept;`
*/
