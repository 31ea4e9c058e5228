struct point_t { bit<8> x; bit<8> y; }
const point_t origin = { x = 0, y = 0, x = 1 };
/* expected
field_given_twice.p4:2:40: error: field `x` is given twice
    2 | const point_t origin = { x = 0, y = 0, x = 1 };
      |                                        ^
   field_given_twice.p4:2:26: first given here
    2 | const point_t origin = { x = 0, y = 0, x = 1 };
      |                          ^
*/
