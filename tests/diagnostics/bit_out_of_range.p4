const bit<8> B = 0xA5;
const bit<4> LOW = B[3:0];
const bit<4> OUTSIDE = B[8:5];
const bit<4> TURNED = B[0:3];
/* expected
bit_out_of_range.p4:3:26: error: `bit<8>` has no bit 8
    3 | const bit<4> OUTSIDE = B[8:5];
      |                          ^
   hint: bits are numbered from 0 to 7
bit_out_of_range.p4:4:23: error: the slice [0:3] is the wrong way round
    4 | const bit<4> TURNED = B[0:3];
      |                       ^^^^^^
   hint: the higher bit comes first: [3:0]
*/
