const bit<8> X = 8w1 << 3;
const bit<8> Y = 8w1 << -1;
control c(inout bit<8> x, in int<8> s) {
    apply {
        x = x << s;
        x = 1 << x;
    }
}
/* expected
shift_by_a_negative_number.p4:2:25: error: a shift by a negative number, -1
    2 | const bit<8> Y = 8w1 << -1;
      |                         ^^
shift_by_a_negative_number.p4:5:18: error: a shift by a `int<8>` is not possible
    5 |         x = x << s;
      |                  ^
   hint: shift by an unsigned number, bit<N>
shift_by_a_negative_number.p4:6:13: error: the width of the shifted number is not known
    6 |         x = 1 << x;
      |             ^
   hint: give it a width: 8w1 << n
*/
