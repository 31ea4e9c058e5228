const bit<8> ZERO = 0;
const bit<8> X = 8w1 / ZERO;
const int Y = 1 << 100000000;
const int Z = 5 / (3 - 5);
/* expected
constant_divides_by_zero.p4:2:18: error: this has no value: division by zero
    2 | const bit<8> X = 8w1 / ZERO;
      |                  ^^^^^^^^^^
constant_divides_by_zero.p4:3:15: error: this has no value: a number with too many digits
    3 | const int Y = 1 << 100000000;
      |               ^^^^^^^^^^^^^^
constant_divides_by_zero.p4:4:15: error: this has no value: division of negative numbers
    4 | const int Z = 5 / (3 - 5);
      |               ^^^^^^^^^^^
*/
