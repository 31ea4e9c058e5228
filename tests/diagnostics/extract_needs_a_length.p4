#include <core.p4>
header options_t { varbit<320> options; }
header ports_t { bit<16> src; bit<16> dst; }
struct headers_t { options_t o; ports_t p; }
parser p(packet_in packet, out headers_t hdr) {
    bit<32> number;
    state start {
        packet.extract(hdr.o);
        packet.extract(hdr.p, 32);
        packet.extract(number);
        transition accept;
    }
}
/* expected
extract_needs_a_length.p4:8:9: error: this header has a varbit field: extract needs its length
    8 |         packet.extract(hdr.o);
      |         ^^^^^^^^^^^^^^^^^^^^^
   hint: write packet.extract(header, length_in_bits)
extract_needs_a_length.p4:9:9: error: this header has no varbit field: its length is fixed
    9 |         packet.extract(hdr.p, 32);
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^
extract_needs_a_length.p4:10:9: error: only headers can be extracted, not a `bit<32>`
   10 |         packet.extract(number);
      |         ^^^^^^^^^^^^^^^^^^^^^^
*/
