const bit<8> X = 256;
const bit<4> Y = 4w20;
const int<8> ALL_ONES = 0xFF;
/* expected
literal_too_large.p4:1:18: warning[overflow]: 256 does not fit into `bit<8>`
    1 | const bit<8> X = 256;
      |                  ^^^
   hint: the value kept is 0
literal_too_large.p4:2:18: warning[overflow]: 20 does not fit into `bit<4>`
    2 | const bit<4> Y = 4w20;
      |                  ^^^^
   hint: the value kept is 4
*/
