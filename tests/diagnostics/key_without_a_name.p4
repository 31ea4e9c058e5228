#include <core.p4>
control c(in bit<8> a, in bit<8> b) {
    table t {
        key = { a + b : exact; a ^ b : exact @name("mixed"); }
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
/* expected
key_without_a_name.p4:4:17: error: this key needs a name: it is computed
    4 |         key = { a + b : exact; a ^ b : exact @name("mixed"); }
      |                 ^^^^^
   hint: write @name("...") behind the match kind, for the control plane
*/
