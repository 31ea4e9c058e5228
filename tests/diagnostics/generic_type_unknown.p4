#include <core.p4>
extern T make<T>();
control c(inout bit<8> x) {
    apply {
        x = make();
        make();
    }
}
/* expected
generic_type_unknown.p4:6:9: error: the type `T` of this call of `make` is not known
    6 |         make();
      |         ^^^^^^
   hint: write it: make<...>(...)
*/
