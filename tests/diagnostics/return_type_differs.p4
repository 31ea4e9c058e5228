bit<8> low(in bit<16> x) {
    return x;
}
bit<8> sometimes(in bit<8> x) {
    if (x > 3) {
        return x;
    }
}
/* expected
return_type_differs.p4:2:12: error: this is a `bit<16>`, but a `bit<8>` is needed
    2 |     return x;
      |            ^
   hint: write a cast: (bit<8>) ...
return_type_differs.p4:4:8: error: `sometimes` can end without returning a value
    4 | bit<8> sometimes(in bit<8> x) {
      |        ^^^^^^^^^
   hint: add `return` at its end
*/
