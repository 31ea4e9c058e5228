control c(inout bit<8> narrow, in bit<16> wide) {
    apply {
        narrow = narrow + wide;
        if (narrow == wide) {
            narrow = wide;
        }
        narrow = narrow ++ 1;
    }
}
/* expected
sides_differ.p4:3:18: error: the two sides differ: `bit<8>` and `bit<16>`
    3 |         narrow = narrow + wide;
      |                  ^^^^^^^^^^^^^
   sides_differ.p4:3:18: a `bit<8>`
    3 |         narrow = narrow + wide;
      |                  ^^^^^^
   sides_differ.p4:3:27: a `bit<16>`
    3 |         narrow = narrow + wide;
      |                           ^^^^
   hint: cast one of them: (bit<8>) ...
sides_differ.p4:4:13: error: the two sides differ: `bit<8>` and `bit<16>`
    4 |         if (narrow == wide) {
      |             ^^^^^^^^^^^^^^
   sides_differ.p4:4:13: a `bit<8>`
    4 |         if (narrow == wide) {
      |             ^^^^^^
   sides_differ.p4:4:23: a `bit<16>`
    4 |         if (narrow == wide) {
      |                       ^^^^
   hint: cast one of them: (bit<8>) ...
sides_differ.p4:5:22: error: this is a `bit<16>`, but a `bit<8>` is needed
    5 |             narrow = wide;
      |                      ^^^^
   hint: write a cast: (bit<8>) ...
sides_differ.p4:7:18: error: `++` needs numbers of known width, not a `int`
    7 |         narrow = narrow ++ 1;
      |                  ^^^^^^^^^^^
   hint: give the number a width: 8w1
*/
