#include <core.p4>
control c(inout bit<8> x) {
    action set(in bit<8> value) { x = value; }
    table inner {
        key = { x : exact; }
        actions = { NoAction; }
    }
    table outer {
        key = { x : exact; }
        actions = { set(inner.apply().hit ? 8w1 : 8w2); }
    }
    apply {
        outer.apply();
        set(inner.apply().miss ? 8w1 : 8w2);
    }
}
/* expected
table_in_an_action_argument.p4:10:25: error: a table cannot be applied in an argument of an action
   10 |         actions = { set(inner.apply().hit ? 8w1 : 8w2); }
      |                         ^^^^^^^^^^^^^^^^^
table_in_an_action_argument.p4:14:13: error: a table cannot be applied in an argument of an action
   14 |         set(inner.apply().miss ? 8w1 : 8w2);
      |             ^^^^^^^^^^^^^^^^^^
*/
