//! Texts in, texts or errors out.

use super::{Definition, PreprocessorOptions, preprocess, spell};
use crate::{Diagnostics, SourceError, SourceMap, SourceProvider};

/// Files by name.
struct Table<'a>(&'a [(&'a str, &'a str)]);

impl SourceProvider for Table<'_> {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        let found = self.0.iter().find(|(name, _)| *name == path);
        found.map(|(_, text)| text.to_string()).ok_or(SourceError::NotFound)
    }
}

fn run(files: &[(&str, &str)], options: &PreprocessorOptions) -> (String, usize) {
    let mut sources = SourceMap::default();
    let mut diagnostics = Diagnostics::default();
    let tokens = preprocess(&Table(files), "main.p4", options, &mut sources, &mut diagnostics);
    (spell(&tokens).trim().to_string(), diagnostics.error_count())
}

fn expand(text: &str) -> (String, usize) {
    run(&[("main.p4", text)], &PreprocessorOptions::default())
}

#[test]
fn macros_expand_as_in_c() {
    for (text, expected) in [
        ("#define A 1\nA + A", "1 + 1"),
        ("#define ADD(a, b) a + b\nADD(1, (2, 3))", "1 + (2, 3)"),
        ("#define F(x) x\nF + F(F)(2)", "F + F(2)"),
        ("#define A B\n#define B A\nA", "A"),
        ("#define CAT(a, b) a##b\nCAT(he, ader) CAT(8w, 5)", "header 8w5"),
        ("#define STR(a) #a\nSTR(x + \"y\")", "\"x + \\\"y\\\"\""),
        ("#define G(x) [x]\n#define H G\nH(1)", "[1]"),
        ("#define A 1\n#undef A\nA", "A"),
        ("__LINE__\n\n__LINE__ __FILE__", "1 3 \"main.p4\""),
        ("#line 40 \"other.p4\"\n__LINE__ __FILE__", "40 \"other.p4\""),
        ("#define LONG 1 + \\\n 2\nLONG", "1 + 2"),
        ("#define LONG 1 + \\ \t\n 2\nLONG", "1 + 2"),
        ("bit<3\\\n2> \"a\\\nb\\\\\"", "bit<32> \"ab\\\\\""),
        ("#define F(a, ...) [a|__VA_ARGS__]\nF(1) F(1, 2, (3, 4))", "[1|] [1|2, (3, 4)]"),
        ("#define F(rest...) g(0, ## rest)\nF() F(1, 2)", "g(0) g(0,1, 2)"),
    ] {
        assert_eq!(expand(text), (expected.to_string(), 0), "{text}");
    }
}

#[test]
fn conditionals_choose_one_branch() {
    for (condition, expected) in [
        ("1", "yes"),
        ("0", "no"),
        ("UNKNOWN", "no"),
        ("defined(V) && V >= 20200408", "yes"),
        ("!defined W", "yes"),
        ("(1 << 4) == 0x10 ? 1 : 0", "yes"),
        ("-1 < 0 && 7 / 2 == 3 && 7 % 2", "yes"),
        ("2 > 1 > 0", "yes"),
        ("'a' == 97 && 'a' < 'b' && ' ' == 32", "yes"),
        ("'\\n' == 10 && '\\'' == 39 && '\\x41' == 'A' && '\\0' == 0", "yes"),
        ("'\"' == 34 && '\\377' == -1", "yes"),
        ("16 >> 2 == 4", "yes"),
        ("HAS_V && !HAS_W", "yes"),
        ("defined __has_include && !__has_include(<none.p4>)", "yes"),
        ("__has_include(\"main.p4\") + __has_include(\"none.p4\") == 1", "yes"),
    ] {
        let macros = "#define V 20200408\n#define HAS_V defined(V)\n#define HAS_W defined W";
        let text = format!("{macros}\n#if {condition}\nyes\n#else\nno\n#endif");
        assert_eq!(expand(&text), (expected.to_string(), 0), "{condition}");
    }
    let text = "#if 0\n#if nonsense (\n#endif\na\n#elif 1\nb\n#elif 1 / 0\nc\n#else\nd\n#endif";
    assert_eq!(expand(text), ("b".to_string(), 0), "skipped conditions are not read");
    for (defined, expected) in [("A", "a"), ("B", "b"), ("C", "c"), ("D", "not c")] {
        let text = format!(
            "#define {defined}\n#ifdef A\na\n#elifdef B\nb\n#elifndef C\nnot c\n#else\nc\n\
             #endif"
        );
        assert_eq!(expand(&text), (expected.to_string(), 0), "{defined}");
    }
}

#[test]
fn directives_and_macros_work_in_strings_of_several_lines() {
    let text = "#define LIMIT 4\n@restriction(\"\n  // as written\n  vlan < LIMIT;\n#ifdef TOR\n  \
                tor\n#else\n  other\n#endif\n\") LIMIT";
    let expected =
        "@restriction(\"\n  // as written\n  vlan < 4;\n\n\n\n  other\n\n\") 4".to_string();
    assert_eq!(expand(text), (expected, 0));
}

#[test]
fn a_quote_without_its_partner_is_no_string_in_skipped_lines() {
    for quote in ["5\" wide", "don't", "\"", "\"a\" \"b \\"] {
        let text = format!("#if 0\n{quote}\n#else\nyes\n#endif\n\"s\"");
        assert_eq!(expand(&text), ("yes \"s\"".to_string(), 0), "{quote}");
    }
}

#[test]
fn includes_are_searched_next_to_the_file_and_then_in_directories() {
    let files = [
        ("main.p4", "#include \"lib/a.p4\"\n#include <b.p4>"),
        ("lib/a.p4", "a #include_is_no_directive_here"),
        ("lib/b.p4", "never"),
        ("second/b.p4", "#ifndef B\n#define B\nb\n#include <b.p4>\n#endif"),
    ];
    let include_directories = vec!["first".into(), "second/".into()];
    let options = PreprocessorOptions { include_directories, ..Default::default() };
    assert_eq!(run(&files, &options), ("a #include_is_no_directive_here b".to_string(), 0));
}

#[test]
fn definitions_come_from_the_command_line() {
    let definitions = vec![
        Definition::Define("A".into()),
        Definition::Define("B=x y".into()),
        Definition::Define("C".into()),
        Definition::Undefine("C".into()),
    ];
    let options = PreprocessorOptions { definitions, ..Default::default() };
    assert_eq!(run(&[("main.p4", "A B C")], &options), ("1 x y C".to_string(), 0));
}

#[test]
fn growth_without_end_is_an_error() {
    // Each macro doubles the one before: 2^40 tokens.
    let mut doubling = String::from("#define A0 x\n");
    for level in 1..=40 {
        doubling += &format!("#define A{level} A{0} A{0}\n", level - 1);
    }
    doubling += "A40";
    assert_eq!(expand(&doubling).1, 1);
    let (_, errors) = expand("#include \"main.p4\"\n#include \"main.p4\"\nx");
    assert_eq!(errors, 1);
    // A chain of macros, each the text of the next, is cut where it is too long.
    let chain: String = (0..5000).map(|n| format!("#define A{n} A{}\n", n + 1)).collect();
    assert_eq!(expand(&(chain + "A0")).1, 0);
}

#[test]
fn text_without_end_is_an_error_however_few_tokens_it_makes() {
    let pasted = format!("#define P {}x\nP", "abcdefgh ## ".repeat(10_000));
    let strings = format!("#define S(x) {}\nS({})", "#x ".repeat(20_000), "word ".repeat(1_000));
    let unclosed = format!("#define F(x) x\n{}", "F( ".repeat(10_000));
    // Nothing comes of A20, and a directive behind each use begins a new expansion.
    let mut nothing = String::from("#define A0\n");
    for level in 1..=20 {
        nothing += &format!("#define A{level} A{0} A{0}\n", level - 1);
    }
    nothing += &"A18\n#pragma x\n".repeat(100);
    let unused = format!("#define F(x) {}\n{}", "x ".repeat(10_000), "F()\n#\n".repeat(1_000));
    for source in [pasted, strings, unclosed, nothing, unused] {
        let shown: String = source.chars().take(60).collect();
        assert_eq!(expand(&source).1, 1, "{shown}");
    }
}

#[test]
fn moderate_pasting_and_strings_are_expanded() {
    let pasted = format!("#define P {}x\nP", "ab ## ".repeat(300));
    assert_eq!(expand(&pasted), (format!("{}x", "ab".repeat(300)), 0));
    let source = format!("#define S(x) #x\nS({})", "word ".repeat(2_000));
    assert_eq!(expand(&source).1, 0);
}

#[test]
fn broken_directives_are_reported_one_by_one() {
    for text in [
        "#define 1",
        "#define F(1) x",
        "#include",
        "#include <a",
        "#else",
        "#endif",
        "#elif 1",
        "#if (",
        "#if 1 / 0\n#endif",
        "#if 1",
        "#ifdef\n#endif",
        "#line x",
        "#error message",
        "#define F(a, b) a\nF(1)",
    ] {
        let (_, errors) = expand(text);
        assert!(errors >= 1, "{text}");
    }
    assert_eq!(expand("#pragma once\n#"), (String::new(), 0));
}

#[test]
fn a_line_that_begins_with_a_hash_and_is_no_directive_is_skipped() {
    for note in [
        "# Ethernet",
        "#14 bytes",
        "# 14 bytes",
        "   # don't",
        "# a string that \"never ends",
        "#\"quoted",
        "##",
        "#### headers ####",
        "#!/usr/bin/env p4c",
        "#frobnicate",
    ] {
        let text = format!("a\n{note}\nb __LINE__");
        assert_eq!(expand(&text), ("a b 3".to_string(), 0), "{note}");
    }
    // As with cpp, what is a directive stays one.
    assert_eq!(expand("# 14 \"other.p4\"\n__LINE__").0, "14");
    assert_eq!(expand("# 14\n__LINE__").0, "14");
    assert_eq!(expand("# if the packet is long\n#endif").1, 1);
}

#[test]
fn a_misspelt_directive_is_skipped_with_a_warning() {
    let warnings = |text: &str| {
        let mut sources = SourceMap::default();
        let mut diagnostics = Diagnostics::default();
        let files = [("main.p4", text)];
        preprocess(
            &Table(&files),
            "main.p4",
            &PreprocessorOptions::default(),
            &mut sources,
            &mut diagnostics,
        );
        let hints = diagnostics.into_sorted().into_iter().filter_map(|found| found.hint);
        hints.collect::<Vec<_>>()
    };
    assert_eq!(warnings("#inlcude <core.p4>"), ["is `#include` meant? comments start with `//`"]);
    assert_eq!(warnings("#defien X"), ["is `#define` meant? comments start with `//`"]);
    assert!(warnings("#in the beginning\n#Ethernet header\n# 14 bytes").is_empty());
}

#[test]
fn a_file_with_pragma_once_is_read_once() {
    let files = [
        ("main.p4", "#include \"lib/a.p4\"\n#include \"lib/../lib/a.p4\"\n#include \"b.p4\" c"),
        ("lib/a.p4", "# pragma once\na"),
        ("lib/../lib/a.p4", "# pragma once\na"),
        ("b.p4", "#pragma once\n#include \"lib/a.p4\"\n#include \"b.p4\"\nb"),
    ];
    assert_eq!(run(&files, &PreprocessorOptions::default()), ("a b".to_string(), 0));
    let other = "#include \"a.p4\"\n#include \"b.p4\"\n#include \"a.p4\"";
    let files = [("main.p4", other), ("a.p4", "#pragma once\nx"), ("b.p4", "#pragma once\nx")];
    assert_eq!(run(&files, &PreprocessorOptions::default()), ("x x".to_string(), 0));
    let files = [("main.p4", other), ("a.p4", "#pragma other\nx"), ("b.p4", "\ny")];
    assert_eq!(run(&files, &PreprocessorOptions::default()), ("x y x".to_string(), 0));
}

#[test]
fn the_macro_of_the_target_is_defined() {
    let text = "#if __TARGET_BMV2__ == 1\nbmv2\n#else\nother\n#endif";
    assert_eq!(expand(text), ("bmv2".to_string(), 0));
    let definitions = vec![Definition::Undefine("__TARGET_BMV2__".into())];
    let options = PreprocessorOptions { definitions, ..Default::default() };
    assert_eq!(run(&[("main.p4", text)], &options), ("other".to_string(), 0));
}

#[test]
fn disabled_annotations_are_left_out_with_what_is_in_their_brackets() {
    let options = PreprocessorOptions {
        annotations_disabled: vec!["name".into(), "hidden".into()],
        ..Default::default()
    };
    let text = "@name(\"a(b\") @id(3) @hidden @name[x=(1)] table @names t";
    assert_eq!(run(&[("main.p4", text)], &options), ("@id(3) table @names t".to_string(), 0));
}
