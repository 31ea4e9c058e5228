header ipv4_t { bit<8> ttl; }
control c(inout ipv4_t ipv4) {
    table t { actions = {} }
    apply {
        t;
        if (ipv4.ttl = 0) {}
    }
}
/* expected
beginners_slips_of_syntax.p4:5:10: error: syntax error: expected `=` or `(` after this expression, found `;`
    5 |         t;
      |          ^
   hint: a table is applied by `t.apply();`, an action called by `t();`
beginners_slips_of_syntax.p4:6:22: error: syntax error: expected `)`, found `=`
    6 |         if (ipv4.ttl = 0) {}
      |                      ^
   hint: `==` compares; `=` assigns, as a statement of its own
*/
