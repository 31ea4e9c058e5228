#include <core.p4>
#include <v1model.p4>
control c(inout standard_metadata_t meta) {
    counter(16, CounterType.packets) hits;
    counter(16) incomplete;
    apply {
        mark_to_drop(meta, 1);
        hits.count(1, 2);
        hits.count(position = 1);
        hits.add(1);
    }
}
/* expected
too_many_arguments.p4:5:5: error: `counter` needs an argument for `type`
    5 |     counter(16) incomplete;
      |     ^^^^^^^^^^^^^^^^^^^^^^^
   p4include/v1model.p4:135:39: the parameter is declared here
  135 |     counter(bit<32> size, CounterType type);
      |                                       ^^^^
too_many_arguments.p4:7:9: error: no `mark_to_drop` takes these arguments
    7 |         mark_to_drop(meta, 1);
      |         ^^^^^^^^^^^^^^^^^^^^^
   hint: there are ones with 0, 1 parameters
too_many_arguments.p4:8:9: error: `count` takes 1 argument, not 2
    8 |         hits.count(1, 2);
      |         ^^^^^^^^^^^^^^^^
   hint: its parameters are: index
too_many_arguments.p4:9:20: error: `count` has no parameter `position`
    9 |         hits.count(position = 1);
      |                    ^^^^^^^^
too_many_arguments.p4:10:14: error: `counter` has no method `add`
   10 |         hits.add(1);
      |              ^^^
*/
