control c(inout int<8> s, in bit<16> u) {
    apply {
        s = (int<8>) u;
    }
}
/* expected
cast_changes_width_and_sign.p4:3:13: error: a `bit<16>` cannot be cast to `int<8>`
    3 |         s = (int<8>) u;
      |             ^^^^^^^^^^
   hint: a cast changes the width or the sign, not both: cast twice
*/
