#include <core.p4>
control c(in bit<8> a) {
    table t {
        key = { a : prefix; }
        actions = { NoAction; }
    }
    apply { t.apply(); }
}
/* expected
match_kind_unknown.p4:4:21: error: there is no match kind `prefix`
    4 |         key = { a : prefix; }
      |                     ^^^^^^
   hint: known are exact, ternary, lpm
*/
