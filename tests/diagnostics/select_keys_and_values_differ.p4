#include <core.p4>
parser p(packet_in packet, in bit<16> kind, in bit<4> version) {
    state start {
        transition select(kind, version) {
            (0x0800, 4): accept;
            (0x0800, 4, 5): accept;
            (8w1, 4): accept;
            (_, 9 .. 3): accept;
            default: reject;
        }
    }
}
/* expected
select_keys_and_values_differ.p4:4:20: error: 2 cases do not fit what this `select` looks at: bit<16>, bit<4>
    4 |         transition select(kind, version) {
      |                    ^^^^^^^^^^^^^^^^^^^^
   select_keys_and_values_differ.p4:6:13: 3 values are given here for 2 keys
    6 |             (0x0800, 4, 5): accept;
      |             ^^^^^^^^^^^^^^
   select_keys_and_values_differ.p4:7:14: this is a `bit<8>`, but a `bit<16>` is needed
    7 |             (8w1, 4): accept;
      |              ^^^
select_keys_and_values_differ.p4:8:17: warning[empty-range]: the range 9 .. 3 is empty: nothing matches it
    8 |             (_, 9 .. 3): accept;
      |                 ^^^^^^
   hint: the lower bound comes first
*/
