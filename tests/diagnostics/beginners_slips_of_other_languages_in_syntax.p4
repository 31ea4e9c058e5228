header ipv4_t { bit<8> ttl; }
control c(inout ipv4_t ipv4) {
    bit<8> i = 0;
    apply {
        i++;
        i--;
        ++i;
        if (i == 1) { i = 2; } elseif (i == 2) { i = 3; } else { i = 4; }
        if (i == 1 and i == 2) { i = 2; }
        if (not true) { i = 2; }
        i = 3 or 4;
    }
}
/* expected
beginners_slips_of_other_languages_in_syntax.p4:5:12: error: syntax error: expected an expression, found `;`
    5 |         i++;
      |            ^
   hint: P4 has no `++` and `--`: write x = x + 1
beginners_slips_of_other_languages_in_syntax.p4:6:12: error: syntax error: expected an expression, found `;`
    6 |         i--;
      |            ^
   hint: P4 has no `++` and `--`: write x = x + 1
beginners_slips_of_other_languages_in_syntax.p4:7:9: error: syntax error: expected an expression, found `++`
    7 |         ++i;
      |         ^^
   hint: P4 has no `++` and `--`: write x = x + 1
beginners_slips_of_other_languages_in_syntax.p4:8:32: error: syntax error: P4 has no `elseif`
    8 |         if (i == 1) { i = 2; } elseif (i == 2) { i = 3; } else { i = 4; }
      |                                ^^^^^^
   hint: write `else if`
beginners_slips_of_other_languages_in_syntax.p4:9:20: error: syntax error: expected `)`, found `and`
    9 |         if (i == 1 and i == 2) { i = 2; }
      |                    ^^^
   hint: `&&` is the operator
beginners_slips_of_other_languages_in_syntax.p4:10:17: error: syntax error: expected `)`, found `true`
   10 |         if (not true) { i = 2; }
      |                 ^^^^
   hint: `!` is the operator
beginners_slips_of_other_languages_in_syntax.p4:11:15: error: syntax error: expected `;`, found `or`
   11 |         i = 3 or 4;
      |               ^^
   beginners_slips_of_other_languages_in_syntax.p4:11:14: `;` is missing after this
   11 |         i = 3 or 4;
      |              ^
   hint: `||` is the operator
*/
