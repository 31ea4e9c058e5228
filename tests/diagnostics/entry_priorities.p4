#include <core.p4>
control c(in bit<8> x, in bit<8> y) {
    action a() { }
    table exact_only {
        key = { x : exact; }
        actions = { a; }
        entries = {
            priority = 5: 1 : a();
        }
    }
    table constant {
        key = { x : ternary; }
        actions = { a; }
        const entries = {
            priority = 5: 1 : a();
        }
    }
    table first_without {
        key = { x : ternary; }
        actions = { a; }
        entries = {
            1 : a();
            priority = 5: 2 : a();
        }
    }
    table runs_out {
        key = { x : exact; y : ternary; }
        actions = { a; }
        priority_delta = 10;
        entries = {
            priority = 15: (1, 2) : a();
            (2, 2) : a();
            (3, 2) : a();
        }
    }
    table twice {
        key = { x : ternary; }
        actions = { a; }
        entries = {
            priority = 5: 1 : a();
            priority = 4: 3 : a();
            priority = 5: 2 : a();
        }
    }
    apply {
        exact_only.apply();
        constant.apply();
        first_without.apply();
        runs_out.apply();
        twice.apply();
    }
}
/* expected
entry_priorities.p4:5:9: error: entries of this table have no priorities: its keys are exact or lpm
    5 |         key = { x : exact; }
      |         ^^^^^^^^^^^^^^^^^^^^
   entry_priorities.p4:8:13: this entry has one
    8 |             priority = 5: 1 : a();
      |             ^^^^^^^^^^^^^^^^^^^^^^
   hint: at most one exact entry fits a packet, and the longest prefix wins
entry_priorities.p4:15:13: error: entries that are `const` have no priorities: the first that fits counts
   15 |             priority = 5: 1 : a();
      |             ^^^^^^^^^^^^^^^^^^^^^^
   hint: remove the priority, or the `const` in front of `entries`
entry_priorities.p4:22:13: error: the first entry needs a priority
   22 |             1 : a();
      |             ^^^^^^^^
   entry_priorities.p4:23:13: because this one has one
   23 |             priority = 5: 2 : a();
      |             ^^^^^^^^^^^^^^^^^^^^^^
   hint: write `priority = ...:` in front of it; those behind it may leave it out
entry_priorities.p4:26:11: error: the entries of `runs_out` run out of priorities
   26 |     table runs_out {
      |           ^^^^^^^^
   entry_priorities.p4:33:13: this entry would have the priority -5
   33 |             (3, 2) : a();
      |             ^^^^^^^^^^^^^
   hint: priorities are 1 to 2147483647; see `priority_delta`
entry_priorities.p4:42:13: warning[same-priority]: two entries have the priority 5
   42 |             priority = 5: 2 : a();
      |             ^^^^^^^^^^^^^^^^^^^^^^
   entry_priorities.p4:40:13: the other one
   40 |             priority = 5: 1 : a();
      |             ^^^^^^^^^^^^^^^^^^^^^^
   hint: if a packet fits both, it is not defined which of them counts
*/
