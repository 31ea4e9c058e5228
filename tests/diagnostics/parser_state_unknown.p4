#include <core.p4>
header h_t { bit<16> kind; }
struct headers_t { h_t h; }
parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.kind) {
            0x0800: parse_ipv4;
            0x86DD: acept;
            default: accept;
        }
    }
    state parse_ip4 {
        transition accept;
    }
}
/* expected
parser_state_unknown.p4:8:21: error: this parser has no state `parse_ipv4`
    8 |             0x0800: parse_ipv4;
      |                     ^^^^^^^^^^
   hint: is `parse_ip4` meant?
parser_state_unknown.p4:9:21: error: this parser has no state `acept`
    9 |             0x86DD: acept;
      |                     ^^^^^
   hint: is `accept` meant?
*/
