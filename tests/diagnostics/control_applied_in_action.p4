#include <core.p4>
control inner(inout bit<8> x) {
    apply { x = 0; }
}
control outer(inout bit<8> x) {
    inner() i;
    action a() {
        i.apply(x);
    }
    apply { a(); }
}
/* expected
control_applied_in_action.p4:8:9: error: a control can be applied in the `apply` of a control only
    8 |         i.apply(x);
      |         ^^^^^^^^^^
*/
