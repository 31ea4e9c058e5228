#define PAIR(a, b) { a, b }
#define NAME(x) field_##x
const tuple<bit<8>, bit<8>> OK = PAIR(1, 2);
const tuple<bit<8>, bit<8>> WRONG = PAIR(1);
const bit<8> NAME(one) = 1;
const bit<8> COPY = field_two;
/* expected
macro_arguments.p4:4:37: error: macro `PAIR` takes 2 arguments, not 1
    4 | const tuple<bit<8>, bit<8>> WRONG = PAIR(1);
      |                                     ^^^^
*/
