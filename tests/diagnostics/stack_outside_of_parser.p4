header h_t { bit<8> x; }
control c(inout h_t[4] stack) {
    apply {
        stack.next.x = 1;
        stack[4].x = 2;
        stack.push_front(1);
    }
}
/* expected
stack_outside_of_parser.p4:4:9: error: `next` of a header stack exists only in parsers
    4 |         stack.next.x = 1;
      |         ^^^^^^^^^^
stack_outside_of_parser.p4:5:15: error: there is no such element: the index must be 0 to 3
    5 |         stack[4].x = 2;
      |               ^
*/
