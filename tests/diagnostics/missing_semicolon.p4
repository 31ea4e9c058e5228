const bit<8> X = 1
const bit<8> Y = 2;
control c(inout bit<8> x) {
    apply {
        x = X
        x = x + Y;
    }
}
/* expected
missing_semicolon.p4:2:1: error: syntax error: expected `;`, found `const`
    2 | const bit<8> Y = 2;
      | ^^^^^
   missing_semicolon.p4:1:19: `;` is missing after this
    1 | const bit<8> X = 1
      |                   ^
missing_semicolon.p4:6:9: error: syntax error: expected `;`, found `x`
    6 |         x = x + Y;
      |         ^
   missing_semicolon.p4:5:14: `;` is missing after this
    5 |         x = X
      |              ^
*/
