#include <core.p4>
header h_t { bit<8> x; }
bit<8> twice(in bit<8> x) { return x + x; }
control c(inout h_t h) {
    apply {
        h.isValid();
        twice(h.x);
    }
}
/* expected
warning_unused_result.p4:6:9: warning[unused-result]: the value that `isValid` returns is not used
    6 |         h.isValid();
      |         ^^^^^^^^^^^
   hint: assign it to a variable, test it with `if`, or leave the call out
warning_unused_result.p4:7:9: warning[unused-result]: the value that `twice` returns is not used
    7 |         twice(h.x);
      |         ^^^^^^^^^^
   hint: assign it to a variable, test it with `if`, or leave the call out
*/
