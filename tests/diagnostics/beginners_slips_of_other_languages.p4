#include <core.p4>
#include <v1model.p4>
header ipv4_t { bit<8> ttl; bit<32> dst_addr; }
struct headers_t { ipv4_t ipv4; }
control c(inout headers_t hdr, inout standard_metadata_t standard) {
    register<bit<32>>(4) r;
    Register<bit<32>, bit<32>>(4) s;
    bit<32> v;
    action apply_table() { routes.apply(); }
    action drop() { mark_to_drop(standard); }
    table routes { actions = { drop; } default_action = drop; }
    apply {
        r.read(0, v);
        r[0] = 5;
        routes();
        if (hdr.ipv4.valid) {}
        if (hdr.ipv4.dst_addr == "10.0.0.1") {}
        v = "10.0.0.256";
        v = "10.0.0.2";
        later = 1;
    }
}
/* expected
beginners_slips_of_other_languages.p4:7:5: error: there is no type `Register` here
    7 |     Register<bit<32>, bit<32>>(4) s;
      |     ^^^^^^^^
   hint: is `register` meant?
beginners_slips_of_other_languages.p4:9:28: error: an action cannot apply a table
    9 |     action apply_table() { routes.apply(); }
      |                            ^^^^^^
   beginners_slips_of_other_languages.p4:11:11: declared here
   11 |     table routes { actions = { drop; } default_action = drop; }
      |           ^^^^^^
   hint: apply `routes` in the `apply` block of the control
beginners_slips_of_other_languages.p4:13:16: error: `read` writes its `result`, so this must be a variable or a field
   13 |         r.read(0, v);
      |                ^
   p4include/v1model.p4:190:21: the parameter is declared here
  190 |     void read(out T result, in bit<32> index);
      |                     ^^^^^^
   hint: its parameters are: result, index
beginners_slips_of_other_languages.p4:14:9: error: a `register<bit<32>>` has no elements
   14 |         r[0] = 5;
      |         ^
   hint: its cells are read and written by its methods: read and write
beginners_slips_of_other_languages.p4:15:9: error: `routes` is a table and cannot be called
   15 |         routes();
      |         ^^^^^^
   hint: apply it: routes.apply()
beginners_slips_of_other_languages.p4:16:22: error: `ipv4_t` has no member `valid`
   16 |         if (hdr.ipv4.valid) {}
      |                      ^^^^^
   hint: whether a header is valid: write isValid()
beginners_slips_of_other_languages.p4:17:13: error: the two sides differ: `bit<32>` and `string`
   17 |         if (hdr.ipv4.dst_addr == "10.0.0.1") {}
      |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   beginners_slips_of_other_languages.p4:17:13: a `bit<32>`
   17 |         if (hdr.ipv4.dst_addr == "10.0.0.1") {}
      |             ^^^^^^^^^^^^^^^^^
   beginners_slips_of_other_languages.p4:17:34: a `string`
   17 |         if (hdr.ipv4.dst_addr == "10.0.0.1") {}
      |                                  ^^^^^^^^^^
   hint: P4 writes addresses as numbers: 0x0a000001
beginners_slips_of_other_languages.p4:18:13: error: this is a `string`, but a `bit<32>` is needed
   18 |         v = "10.0.0.256";
      |             ^^^^^^^^^^^^
beginners_slips_of_other_languages.p4:19:13: error: this is a `string`, but a `bit<32>` is needed
   19 |         v = "10.0.0.2";
      |             ^^^^^^^^^^
   hint: P4 writes addresses as numbers: 0x0a000002
beginners_slips_of_other_languages.p4:20:9: error: there is no variable, constant or object `later` here
   20 |         later = 1;
      |         ^^^^^
   hint: a name must be declared before it is used
*/
