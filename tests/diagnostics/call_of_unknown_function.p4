control c(inout bit<8> x) {
    action increment() { x = x + 1; }
    apply {
        incremnt();
    }
}
/* expected
call_of_unknown_function.p4:4:9: error: there is no function or action `incremnt` here
    4 |         incremnt();
      |         ^^^^^^^^
   hint: is `increment` meant?
*/
