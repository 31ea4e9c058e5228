extern Lamp {
    Lamp();
    bit<8> colour();
}
control c() {
    Lamp() lamp = {
        bit<8> colour() { return 1; }
    };
    apply { }
}
/* expected
initializer_without_abstract_method.p4:6:5: error: this extern has no abstract methods that `= { ... }` could be for
    6 |     Lamp() lamp = {
      |     ^^^^^^^^^^^^^^^
*/
