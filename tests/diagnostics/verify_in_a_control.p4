#include <core.p4>
control c(in bit<8> x) {
    apply {
        verify(x == 1, error.NoMatch);
        packet_in p;
    }
}
/* expected
verify_in_a_control.p4:4:9: error: `verify` can be called in parsers only
    4 |         verify(x == 1, error.NoMatch);
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
verify_in_a_control.p4:5:9: error: a variable cannot have the type `packet_in`
    5 |         packet_in p;
      |         ^^^^^^^^^
   hint: an object is made with arguments: Type(...) name;
*/
