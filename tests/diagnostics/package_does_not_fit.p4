control Filter(inout bit<8> value, out bool keep);
package Pipe(Filter first, Filter second);
control large(inout bit<8> value, out bool keep) {
    apply { keep = value > 100; }
}
control small(inout bit<16> value, out bool keep) {
    apply { keep = value < 100; }
}
Pipe(large(), small()) main;
/* expected
package_does_not_fit.p4:2:9: error: package `Pipe` does not fit what it is made of here
    2 | package Pipe(Filter first, Filter second);
      |         ^^^^
   package_does_not_fit.p4:9:15: this is a `control small`, but a `Filter` is needed
    9 | Pipe(large(), small()) main;
      |               ^^^^^^^
   package_does_not_fit.p4:6:15: `Filter` has `inout bit<8>` in this place
    6 | control small(inout bit<16> value, out bool keep) {
      |               ^^^^^^^^^^^^^^^^^^^
*/
