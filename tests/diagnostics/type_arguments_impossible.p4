extern Box<T> {
    Box();
    void put(in T value);
}
struct pair_t<T> {
    T first;
    T second;
}
parser Reader(out bit<8> value);
const pair_t<void> nothing = { 0, 0 };
control c() {
    Box<string>() words;
    Box<pair_t<Reader>>() readers;
    apply { }
}
/* expected
type_arguments_impossible.p4:10:7: error: `void` cannot be a type argument
   10 | const pair_t<void> nothing = { 0, 0 };
      |       ^^^^^^^^^^^^
type_arguments_impossible.p4:12:5: error: `Box` cannot have these types: parameter `value` of type `string` cannot have a direction
   12 |     Box<string>() words;
      |     ^^^^^^^^^^^
   type_arguments_impossible.p4:3:14: because of this
    3 |     void put(in T value);
      |              ^^^^^^^^^^
type_arguments_impossible.p4:13:9: error: `Reader` cannot be a type argument
   13 |     Box<pair_t<Reader>>() readers;
      |         ^^^^^^^^^^^^^^
*/
