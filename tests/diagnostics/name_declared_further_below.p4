control c(inout bit<8> x) {
    action a() { x = y; b(); }
    bit<8> y = 1;
    action b() { x = 2; }
    apply { a(); }
}
/* expected
name_declared_further_below.p4:2:22: error: the variable `y` is declared further below
    2 |     action a() { x = y; b(); }
      |                      ^
   name_declared_further_below.p4:3:12: declared here
    3 |     bit<8> y = 1;
      |            ^
   hint: a name must be declared before it is used
name_declared_further_below.p4:2:25: error: the action `b` is declared further below
    2 |     action a() { x = y; b(); }
      |                         ^
   name_declared_further_below.p4:4:12: declared here
    4 |     action b() { x = 2; }
      |            ^
   hint: a name must be declared before it is used
*/
