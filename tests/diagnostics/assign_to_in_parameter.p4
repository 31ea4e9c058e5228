// A parameter without `out` or `inout` is a copy that cannot be written.
control c(in bit<8> x) {
    apply {
        x = 1;
    }
}
/* expected
assign_to_in_parameter.p4:4:9: error: `x` cannot be written to
    4 |         x = 1;
      |         ^
   assign_to_in_parameter.p4:2:11: declared here
    2 | control c(in bit<8> x) {
      |           ^^^^^^^^^^^
   hint: parameters need `inout` or `out` to be written to
*/
