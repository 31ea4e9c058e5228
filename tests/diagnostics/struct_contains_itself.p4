struct list_t { bit<8> head; list_t tail; }
const bit<8> X = 1;
/* expected
struct_contains_itself.p4:1:30: error: there is no type `list_t` here
    1 | struct list_t { bit<8> head; list_t tail; }
      |                              ^^^^^^
   hint: a name must be declared before it is used
*/
