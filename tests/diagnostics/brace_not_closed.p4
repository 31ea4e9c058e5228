control c(inout bit<8> x) {
    apply {
        if (x == 0) {
            x = 1;
    }
}
control d(inout bit<8> x) {
    apply {}
}
/* expected
brace_not_closed.p4:7:1: error: syntax error: expected `}`, found `control`
    7 | control d(inout bit<8> x) {
      | ^^^^^^^
   brace_not_closed.p4:1:27: this brace is not closed
    1 | control c(inout bit<8> x) {
      |                           ^
*/
