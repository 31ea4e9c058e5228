#include <core.p4>
#include <v1model.p4>
header ipv4_t { bit<8> ttl; }
struct headers_t { ipv4_t ipv4; }
control c(inout headers_t hdr, inout standard_metadata_t standard) {
    action drop() { mark_to_drop(standard); }
    table t { actions = { drop; } default_action = drop; }
    apply {
        drop.apply();
        if (t) {}
        if (hdr.ipv4.isValid) {}
        if (hdr.ttl == 0) {}
        if (hdr.ipv4.ttl) {}
    }
}
/* expected
beginners_slips.p4:9:9: error: `drop` is an action, not a value
    9 |         drop.apply();
      |         ^^^^
   hint: call it: drop()
beginners_slips.p4:10:13: error: `t` is a table, not a value
   10 |         if (t) {}
      |             ^
   hint: apply it: t.apply()
beginners_slips.p4:11:22: error: `ipv4_t` has no member `isValid`
   11 |         if (hdr.ipv4.isValid) {}
      |                      ^^^^^^^
   hint: it is a method: write isValid()
beginners_slips.p4:12:17: error: `headers_t` has no member `ttl`
   12 |         if (hdr.ttl == 0) {}
      |                 ^^^
   hint: is `ipv4.ttl` meant?
beginners_slips.p4:13:13: error: this is a `bit<8>`, but a `bool` is needed
   13 |         if (hdr.ipv4.ttl) {}
      |             ^^^^^^^^^^^^
   hint: compare with something: x != 0
*/
