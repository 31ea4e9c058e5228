control c(inout bit<8> x) {
    apply {
        if (x) {
            x = 0;
        }
        if (x != 0 && x) {
            x = 1;
        }
    }
}
/* expected
condition_is_a_number.p4:3:13: error: this is a `bit<8>`, but a `bool` is needed
    3 |         if (x) {
      |             ^
   hint: compare with something: x != 0
condition_is_a_number.p4:6:23: error: `&&` needs a bool, not a `bit<8>`
    6 |         if (x != 0 && x) {
      |                       ^
   hint: compare with something: x != 0
*/
