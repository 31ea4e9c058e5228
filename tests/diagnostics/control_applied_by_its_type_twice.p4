#include <core.p4>
header byte_t { bit<8> value; }
control set(inout byte_t byte) {
    action to_one() { byte.value = 1; }
    apply { to_one(); }
}
control plain(inout byte_t byte) {
    apply { byte.value = byte.value + 1; }
}
control c(inout byte_t byte) {
    apply {
        // Without actions or tables there is nothing that the control plane could confuse.
        plain.apply(byte);
        plain.apply(byte);
        set.apply(byte);
        set.apply(byte);
    }
}
/* expected
control_applied_by_its_type_twice.p4:16:9: error: `set` is applied by its type twice
   16 |         set.apply(byte);
      |         ^^^^^^^^^^^^^^^
   control_applied_by_its_type_twice.p4:15:9: here it is applied first
   15 |         set.apply(byte);
      |         ^^^
   hint: each makes an instance, and both would have the same names on the control plane: declare an instance and apply that, or two instances
*/
