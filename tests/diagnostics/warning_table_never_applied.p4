#include <core.p4>
control c(inout bit<8> x) {
    table used { key = { x : exact; } actions = { NoAction; } }
    table unused { key = { x : exact; } actions = { NoAction; } }
    apply { used.apply(); }
}
/* expected
warning_table_never_applied.p4:4:11: warning[unused-table]: table `unused` is never applied
    4 |     table unused { key = { x : exact; } actions = { NoAction; } }
      |           ^^^^^^
   hint: write unused.apply(); in the `apply` block
*/
