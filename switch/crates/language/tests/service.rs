//! The answers to editors, about programs that are whole and programs that are being typed. In the
//! texts `|` is the cursor.

use compiler::index::Kind;
use compiler::{PreprocessorOptions, SourceError};
use language::{Completions, Meaning, Sources, Study, complete, format, rename};
use std::fs;
use std::path::{Path, PathBuf};

const HEAD: &str = r#"#include <v1model.p4>
// A neighbour's report.
header probe_t {
    bit<8> hops;  // How many routers it has seen.
    bit<16> port;
}
enum bit<8> verdict_t { KEEP = 1, LOSE = 2 }
struct headers_t { probe_t probe; probe_t[3] stack; }
struct metadata_t { bit<16> wanted; }
"#;
const BEFORE_INGRESS: &str = r#"
parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t standard) {
    state start { packet.extract(hdr.probe); transition more; }
    state more { transition accept; }
}
control verify_checksums(inout headers_t hdr, inout metadata_t meta) { apply {} }
"#;
const INGRESS: &str = r#"
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action lose() { mark_to_drop(standard); }
    // Out by a port.
    action leave(bit<9> port) { standard.egress_spec = port; }
    table ways {
        key = { hdr.probe.hops: exact; }
        actions = { leave; lose; }
        default_action = lose();
    }
    apply {
        if (hdr.probe.isValid()) { ways.apply(); }
        standard.priority = (bit<3>) hdr.probe.hops;
    }
}
"#;
const TAIL: &str = r#"
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}
control update_checksums(inout headers_t hdr, inout metadata_t meta) { apply {} }
control deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(parse(), verify_checksums(), ingress(), egress(), update_checksums(), deparse()) main;
"#;

/// The whole program with another ingress control.
fn program(ingress: &str) -> String {
    [HEAD, BEFORE_INGRESS, ingress, TAIL].concat()
}

/// A program with `new` in the place of `old` in its ingress.
fn changed(old: &str, new: &str) -> String {
    assert!(INGRESS.contains(old), "{old}");
    program(&INGRESS.replacen(old, new, 1))
}

/// Asks about the cursor of a text.
fn at_cursor<T>(text: &str, ask: impl FnOnce(&Sources<'_>, u32) -> T) -> T {
    let offset = text.find('|').expect("a cursor") as u32;
    asking(&text.replacen('|', "", 1), |sources| ask(sources, offset))
}

fn asking<T>(text: &str, ask: impl FnOnce(&Sources<'_>) -> T) -> T {
    let provider = |path: &str| match path {
        "a.p4" => Ok(text.to_owned()),
        "inc/core.p4" => Ok(include_str!("../../../../p4src/include/core.p4").to_owned()),
        "inc/v1model.p4" => Ok(include_str!("../../../../p4src/include/v1model.p4").to_owned()),
        _ => Err(SourceError::NotFound),
    };
    let options = PreprocessorOptions {
        include_directories: vec!["inc".to_owned()],
        ..PreprocessorOptions::default()
    };
    ask(&Sources { provider: &provider, main: "a.p4", options: &options })
}

fn offered(text: &str) -> Completions {
    at_cursor(text, |sources, at| complete(sources, "a.p4", at))
}

fn names(text: &str) -> Vec<String> {
    offered(text).list.into_iter().map(|offered| offered.name).collect()
}

fn meant(text: &str) -> Meaning {
    at_cursor(text, |sources, at| Study::of(sources).meaning("a.p4", at)).expect("a meaning")
}

/// The text of the line on which the thing at the cursor is declared.
fn declared(text: &str) -> String {
    at_cursor(text, |sources, at| {
        let study = Study::of(sources);
        let span = study.definition("a.p4", at).expect("a declaration");
        study.sources().line_text(span).trim().to_owned()
    })
}

#[test]
fn the_program_of_these_tests_is_right() {
    asking(&program(INGRESS), |sources| assert_eq!(Study::of(sources).diagnostics(), []));
}

#[test]
fn members_are_offered_in_statements_that_are_not_finished() {
    let statement = "ways.apply(); }";
    for typed in [
        "hdr.probe.| }",
        "hdr.probe.|\n meta.wanted = 1; }",
        "meta.wanted = (hdr.probe.| }",
        "meta.wanted = hdr.probe.|; }",
        "if (hdr.probe.| }",
        "if (hdr.probe.| == 1) { exit; } }",
        "if (hdr.probe.|",
    ] {
        let found = names(&changed(statement, typed));
        assert_eq!(found, ["hops", "isValid", "port", "setInvalid", "setValid"], "{typed}");
    }
}

#[test]
fn what_is_typed_of_a_name_is_replaced() {
    let text = changed("ways.apply(); }", "hdr.probe.ho|ps = 1; }");
    let found = offered(&text);
    assert_eq!(&text.replacen('|', "", 1)[found.from as usize..found.to as usize], "hops");
    assert!(found.list.iter().any(|offered| offered.name == "port"));
}

#[test]
fn a_place_offers_what_fits_it() {
    let has = |text: &str, wanted: &[&str], unwanted: &[&str]| {
        let found = names(text);
        for name in wanted {
            assert!(found.iter().any(|known| known == name), "{name} is missing: {found:?}");
        }
        for name in unwanted {
            assert!(!found.iter().any(|known| known == name), "{name} is too much: {found:?}");
        }
    };
    let top = program(INGRESS).replacen("struct metadata_t", "|\nstruct metadata_t", 1);
    has(&top, &["control", "header", "struct"], &["transition"]);
    has(&changed("leave; lose;", "leave; | "), &["lose", "leave", "NoAction"], &["hdr", "ways"]);
    has(
        &changed("hdr.probe.hops: exact;", "hdr.probe.hops: |"),
        &["exact", "lpm", "ternary"],
        &["hdr"],
    );
    has(&changed("hdr.probe.hops: exact;", "hdr.probe.|"), &["hops", "port"], &[]);
    has(
        &changed("default_action = lose();", "|"),
        &["size", "default_action", "entries"],
        &["hdr"],
    );
    has(&changed("default_action = lose();", "default_action = |"), &["lose", "leave"], &["hdr"]);
    has(&changed("bit<9> port) {", "|) {"), &["probe_t"], &["hdr"]);
    has(&changed("{ ways.apply(); }", "{ ways.| }"), &["apply"], &["hops"]);
    has(&changed("{ ways.apply(); }", "{ if (ways.apply().|) { } }"), &["hit", "miss"], &["apply"]);
    has(&changed("{ ways.apply(); }", "{ hdr.stack.| }"), &["push_front"], &["hops"]);
    has(&changed("{ ways.apply(); }", "{ hdr.stack[0].| }"), &["hops"], &["push_front"]);
    has(
        &changed("{ ways.apply(); }", "{ meta.wanted = verdict_t.| }"),
        &["KEEP", "LOSE"],
        &["hdr"],
    );
    has(
        &changed("{ ways.apply(); }", "{ | }"),
        &["break", "hdr", "if", "mark_to_drop", "ways"],
        &["transition"],
    );
    has(&changed("// Out by a port.", "|"), &["action", "counter", "register", "table"], &["if"]);
    has(
        &changed("{ ways.apply(); }", "{ switch (ways.apply().action_run) { |: { } } }"),
        &["lose", "leave"],
        &["NoAction"],
    );
    let states = program(INGRESS).replacen("transition more;", "transition |", 1);
    has(&states, &["more", "start", "accept", "select"], &["hdr"]);
    let packet = program(INGRESS).replacen("packet.extract(hdr.probe);", "packet.|", 1);
    has(&packet, &["extract", "advance"], &["emit"]);
}

#[test]
fn comments_strings_and_numbers_offer_nothing() {
    for typed in ["// hdr.|", "/* hdr.| */", "log_msg(\"hdr.|\");", "meta.wanted = 16w|;"] {
        assert_eq!(
            names(&changed("ways.apply(); }", &format!("{typed}\n }}"))),
            [""; 0],
            "{typed}"
        );
    }
}

#[test]
fn a_brace_that_is_missing_costs_its_own_control_only() {
    let text =
        changed("if (hdr.probe.isValid()) { ways.apply(); }", "if (hdr.probe.isValid()) { hdr.|");
    assert_eq!(names(&text), ["probe", "stack"]);
    let elsewhere = text.replacen('|', "", 1).replacen("packet.emit(hdr);", "packet.|", 1);
    assert_eq!(names(&elsewhere), ["emit"]);
}

#[test]
fn a_name_is_explained_by_its_declaration_type_and_comments() {
    let field = meant(&program(INGRESS).replacen(
        "= (bit<3>) hdr.probe.hops",
        "= (bit<3>) hdr.probe.ho|ps",
        1,
    ));
    assert_eq!(
        (field.code.as_str(), field.words.as_str()),
        ("bit<8> hops", "How many routers it has seen.")
    );
    let action = meant(&changed("leave; lose;", "le|ave; lose;"));
    assert!(action.code.starts_with("action leave(bit<9> port)"), "{}", action.code);
    assert_eq!(action.words, "Out by a port.");
    let header = meant(&program(INGRESS).replacen("{ probe_t probe;", "{ pro|be_t probe;", 1));
    assert!(header.code.starts_with("header probe_t {\n    bit<8> hops;"), "{}", header.code);
    let given = meant(&changed("mark_to_drop", "mark|_to_drop"));
    assert!(!given.words.is_empty(), "v1model.p4 explains what it declares");
    let metadata = meant(&changed("standard.egress_spec", "standard.egress|_spec"));
    assert!(metadata.words.contains("511"), "{}", metadata.words);
}

#[test]
fn words_of_the_language_are_explained() {
    for (old, new) in
        [("exact", "ex|act"), ("isValid", "is|Valid"), ("default_action", "default|_action")]
    {
        assert!(meant(&changed(old, new)).words.len() > 10, "{new}");
    }
    let statements = "bit<16> most = meta.wanted |+| 1; for (; meta.wanted < most; ) { break; }";
    let looped = changed("ways.apply(); }", &format!("{statements} }}"));
    for (word, wanted) in
        [("|+|", "wrap around"), ("for", "depend on the packet"), ("break", "innermost loop")]
    {
        let offset = looped.find(word).expect(word) as u32 + 1;
        let meaning = asking(&looped, |sources| Study::of(sources).meaning("a.p4", offset));
        let meaning = meaning.unwrap_or_default();
        assert!(meaning.words.contains(wanted), "{word}: {}", meaning.words);
    }
    let typed = changed("ways.apply(); }", "| }");
    for offered in offered(&typed).list {
        assert!(offered.kind.is_some() || !offered.meaning.words.is_empty(), "{}", offered.name);
    }
}

#[test]
fn a_name_leads_to_its_declaration() {
    assert_eq!(declared(&changed("{ ways.apply()", "{ wa|ys.apply()")), "table ways {");
    assert_eq!(declared(&changed("hdr.probe.hops: exact", "hdr.probe.hops: ex|act")), "exact,");
    assert_eq!(
        declared(&changed("hdr.probe.hops;", "hdr.pro|be.hops;")),
        "struct headers_t { probe_t probe; probe_t[3] stack; }"
    );
    let state = program(INGRESS).replacen("transition more", "transition mo|re", 1);
    assert_eq!(declared(&state), "state more { transition accept; }");
    let extract = program(INGRESS).replacen("packet.extract", "packet.ext|ract", 1);
    assert_eq!(declared(&extract), "void extract<T>(out T hdr);");
    let broken = changed("ways.apply(); }", "ways.apply(); hdr.pro|be.hops = ; }");
    at_cursor(&broken, |sources, at| assert_eq!(Study::of(sources).definition("a.p4", at), None));
    // A mistake elsewhere takes nothing away.
    let elsewhere = broken.replacen('|', "", 1).replacen("{ ways.apply()", "{ wa|ys.apply()", 1);
    assert_eq!(declared(&elsewhere), "table ways {");
}

#[test]
fn renaming_changes_every_place_and_nothing_else() {
    let text = program(INGRESS).replacen("bit<8> hops;", "bit<8> ho|ps;", 1);
    let changes = at_cursor(&text, |sources, at| rename(sources, "a.p4", at, "seen", |_| false));
    let changes = changes.expect("it can be renamed");
    let plain = text.replacen('|', "", 1);
    assert_eq!(changes.len(), plain.matches("hops").count());
    let mut renamed = plain;
    for change in changes.iter().rev() {
        renamed.replace_range(change.from as usize..change.to as usize, &change.text);
    }
    asking(&renamed, |sources| assert_eq!(Study::of(sources).diagnostics(), []));
    assert!(!renamed.contains("hops"));
}

#[test]
fn a_name_that_would_change_the_meaning_is_refused() {
    let refused = |text: &str, name: &str| {
        at_cursor(text, |sources, at| {
            rename(sources, "a.p4", at, name, |file| file.starts_with("inc/"))
        })
        .expect_err("it is refused")
    };
    let field = program(INGRESS).replacen("bit<8> hops;", "bit<8> ho|ps;", 1);
    assert!(refused(&field, "port").contains("would be a mistake"), "the header has one already");
    assert!(refused(&field, "table").contains("keyword"));
    assert!(refused(&field, "2nd").contains("no name"));
    assert!(refused(&changed("mark_to_drop", "mark|_to_drop"), "x").contains("v1model.p4"));
    assert!(refused(&changed("isValid", "is|Valid"), "x").contains("no name here"));
    // Inside of the action the parameter would hide the control's own.
    let hides = changed("leave(bit<9> port)", "leave(bit<9> po|rt)");
    assert!(!refused(&hides, "standard").is_empty());
}

#[test]
fn outlines_list_what_a_file_declares() {
    asking(&program(INGRESS), |sources| {
        let study = Study::of(sources);
        let outline = study.outline("a.p4");
        let has =
            |kind, name: &str| outline.iter().any(|one| one.kind == kind && &*one.name == name);
        assert!(has(Kind::Table, "ways") && has(Kind::State, "more") && has(Kind::Field, "hops"));
        assert!(has(Kind::Object, "main") && !has(Kind::Function, "mark_to_drop"));
    });
}

#[test]
fn a_layout_is_mended_and_one_that_is_right_stays() {
    let ugly = "control c( inout bit<8> a ,bit<8> b){\napply{\nif(a==b&&a!=-1){a=a+1;}\n  else\n{ a = ~ b; }\n\n\n\n  // said\nf (a);\n}\n}";
    let right = "control c(inout bit<8> a, bit<8> b) {\n    apply {\n        if (a == b && a != -1) {a = a + 1;}\n        else\n        { a = ~b; }\n\n        // said\n        f(a);\n    }\n}\n";
    assert_eq!(format(ugly).as_deref(), Ok(right));
    assert_eq!(format(right).as_deref(), Ok(right));
    assert_eq!(format("").as_deref(), Ok(""));
    assert_eq!(format("a;\r\nb;").as_deref(), Ok("a;\r\nb;\r\n"));
    assert!(format("a;\n/* never").expect_err("it never ends").starts_with("line 2"));
}

#[test]
fn lines_that_go_on_move_with_the_first() {
    let text = "action a() {\nx = f(one,\n      two)\n  + 3;\n#ifdef A\n{\n#else\n{\n#endif\ny = 1;\n}\n}\n";
    let right = "action a() {\n    x = f(one,\n          two)\n      + 3;\n#ifdef A\n    {\n#else\n    {\n#endif\n        y = 1;\n    }\n}\n";
    assert_eq!(format(text).as_deref(), Ok(right));
}

/// P4 files below a folder.
fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "p4") {
            found.push(path);
        }
    }
}

#[test]
fn the_kits_own_programs_are_laid_out_as_they_are() {
    let mut paths = Vec::new();
    programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4src"), &mut paths);
    assert!(paths.len() > 20, "only {} programs", paths.len());
    for path in paths {
        let text = fs::read_to_string(&path).expect("a text");
        let laid_out = format(&text).expect("it can be laid out");
        let differing = text.lines().zip(laid_out.lines()).find(|(old, new)| old != new);
        assert_eq!(differing, None, "{}", path.display());
        assert_eq!(text, laid_out, "{}", path.display());
    }
}
