#include <core.p4>
control c(inout bit<8> x) {
    action clear() { x = 0; }
    action other() { }
    table t {
        key = { x : exact; }
        actions = { clear; NoAction; }
        default_action = other();
    }
    apply { t.apply(); }
}
/* expected
default_action_not_listed.p4:8:26: error: action `other` is not among the table's actions
    8 |         default_action = other();
      |                          ^^^^^
   hint: add it to actions = { ... }
*/
