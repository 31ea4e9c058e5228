#include <core.p4>
control c(inout bit<8> x) {
    action a() { x = 1; }
    action b() { x = 2; }
    table t {
        key = { x : exact; }
        actions = { a; NoAction; }
    }
    apply {
        switch (t.apply().action_run) {
            a: { x = 3; }
            b: { x = 4; }
            a: { x = 5; }
            default: { }
        }
    }
}
/* expected
switch_on_unlisted_action.p4:12:13: error: table `t` has no action `b`
   12 |             b: { x = 4; }
      |             ^
switch_on_unlisted_action.p4:13:13: error: there are two cases for this
   13 |             a: { x = 5; }
      |             ^
   switch_on_unlisted_action.p4:11:13: the other one
   11 |             a: { x = 3; }
      |             ^
*/
