//! The compiler's other commands: `p4test`, `p4fmt` and `p4c-graphs`.

use p4c::run::Outcome;
use p4c::tools::Tool;
use std::fs;
use std::path::{Path, PathBuf};

/// A program for an architecture of its own.
const FILTER: &str = r#"#include <core.p4>
header h_t { bit<8> kind; }
struct headers_t { h_t h; }
parser Parse<H>(packet_in packet, out H hdr);
control Decide<H>(inout H hdr, out bool passes);
package Filter<H>(Parse<H> parse, Decide<H> decide);
parser parse(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.kind) { 1: more; 2 &&& 3: accept; }
    }
    state more { transition accept; }
}
control count(inout headers_t hdr) {
    apply {
        if (hdr.h.kind == 7) { return; }
        hdr.h.kind = 8;
    }
}
control decide(inout headers_t hdr, out bool passes) {
    count() counted;
    action drop() { passes = false; }
    table kinds {
        key = { hdr.h.kind: exact; }
        actions = { drop; NoAction; }
    }
    table others { actions = { NoAction; } }
    apply {
        passes = true;
        if (!kinds.apply().hit) { counted.apply(hdr); } else if (hdr.h.kind > 3) { exit; }
        switch (others.apply().action_run) { NoAction: { hdr.h.kind = 2; } }
        for (bit<8> i in 8w1 .. 8w3) {
            if (i == hdr.h.kind) { break; }
            hdr.h.kind = i;
        }
    }
}
Filter(parse(), decide()) main;
"#;

/// A fresh directory of this name with a program in it.
fn directory(name: &str, program: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory can be made");
    fs::write(directory.join("a.p4"), program).expect("a program can be written");
    directory
}

fn run(tool: Tool, directory: &Path, words: &str) -> Outcome {
    let place = directory.to_string_lossy();
    let words: Vec<String> =
        words.split_whitespace().map(|word| word.replace("DIR", &place)).collect();
    tool.run(&words)
}

/// The edges of a graph by the labels of their ends: `from -[label]-> to`.
fn edges(text: &str) -> Vec<String> {
    let field = |line: &str, name: &str| {
        let rest = line.split_once(&format!("{name}=\""))?.1;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let nodes: Vec<(&str, String)> = text
        .lines()
        .filter(|line| !line.contains("->"))
        .filter_map(|line| Some((line.split_whitespace().next()?, field(line, "label")?)))
        .collect();
    let label = |id: &str| {
        let first = |text: &String| text.split("\\n").next().unwrap_or_default().to_owned();
        nodes.iter().find(|(known, _)| *known == id).map(|(_, text)| first(text)).expect(id)
    };
    text.lines()
        .filter_map(|line| line.trim().trim_end_matches(';').split_once(" -> "))
        .map(|(from, to)| {
            let (to, said) = to.split_once(" [").map_or((to, String::new()), |(to, rest)| {
                (to, field(rest, "label").unwrap_or_default())
            });
            format!("{} -[{said}]-> {}", label(from), label(to))
        })
        .collect()
}

#[test]
fn a_program_of_any_architecture_is_checked() {
    let place = directory("test", FILTER);
    assert_eq!(run(Tool::Test, &place, "--validate --Wdisable DIR/a.p4"), Outcome::default());
    let place = directory("test-broken", &FILTER.replace("hdr.h.kind = 8", "hdr.h.kinds = 8"));
    let outcome = run(Tool::Test, &place, "DIR/a.p4");
    assert_eq!(outcome.status, 1);
    assert!(outcome.messages.contains("a.p4:17:15: error: "), "{}", outcome.messages);
}

#[test]
fn a_text_is_laid_out_in_its_own_file() {
    let place = directory("fmt", "const bit<8> A=1;\nstruct s{\nbit<8> x;\n}\n");
    let wanted = "const bit<8> A = 1;\nstruct s {\n    bit<8> x;\n}\n";
    assert_eq!(
        run(Tool::Format, &place, "DIR/a.p4"),
        Outcome { text: wanted.into(), ..Outcome::default() }
    );
    assert_eq!(run(Tool::Format, &place, "DIR/a.p4 -o DIR/a.p4"), Outcome::default());
    assert_eq!(fs::read_to_string(place.join("a.p4")).expect("it is there"), wanted);
    let outcome = run(Tool::Format, &place, "DIR/b.p4");
    assert!(outcome.messages.starts_with("error: there is no file "), "{}", outcome.messages);
    fs::write(place.join("b.p4"), "control c() {\n    \" }\n").expect("it can be written");
    let outcome = run(Tool::Format, &place, "DIR/b.p4");
    assert!(outcome.messages.contains("b.p4, line 2: "), "{}", outcome.messages);
}

#[test]
fn each_parser_and_control_of_main_is_a_graph() {
    let place = directory("graphs", FILTER);
    let outcome = run(Tool::Graphs, &place, "--Wdisable DIR/a.p4 --graphs-dir DIR/out --fullGraph");
    assert_eq!(outcome, Outcome::default());
    let mut names: Vec<String> = fs::read_dir(place.join("out"))
        .expect("made")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["decide.dot", "fullGraph.dot", "parse.dot"]);
    let read = |name: &str| fs::read_to_string(place.join("out").join(name)).expect("written");
    assert_eq!(
        edges(&read("parse.dot")),
        [
            "__START__ -[]-> start",
            "start -[1]-> more",
            "start -[2 &&& 3]-> accept",
            "start -[no match]-> reject",
            "more -[]-> accept",
        ]
    );
    assert_eq!(
        edges(&read("decide.dot")),
        [
            "__START__ -[]-> passes = true;",
            "passes = true; -[]-> kinds",
            "kinds -[miss]-> counted.apply(hdr);",
            "counted.apply(hdr); -[]-> hdr.h.kind == 7",
            "hdr.h.kind == 7 -[FALSE]-> hdr.h.kind = 8;",
            "kinds -[hit]-> hdr.h.kind > 3",
            "hdr.h.kind = 8; -[]-> others",
            "hdr.h.kind == 7 -[TRUE]-> others",
            "hdr.h.kind > 3 -[FALSE]-> others",
            "others -[NoAction]-> hdr.h.kind = 2;",
            "hdr.h.kind = 2; -[]-> i in 8w1 .. 8w3",
            "others -[default]-> i in 8w1 .. 8w3",
            "i in 8w1 .. 8w3 -[next]-> i == hdr.h.kind",
            "i == hdr.h.kind -[FALSE]-> hdr.h.kind = i;",
            "hdr.h.kind = i; -[]-> i in 8w1 .. 8w3",
            "i == hdr.h.kind -[TRUE]-> __EXIT__",
            "i in 8w1 .. 8w3 -[done]-> __EXIT__",
            "hdr.h.kind > 3 -[TRUE]-> __EXIT__",
        ]
    );
    let full = read("fullGraph.dot");
    assert!(
        full.contains("label=\"parse\";") && full.contains("-> b1n0 [style=dashed];"),
        "{full}"
    );
}

#[test]
fn controls_that_double_with_each_line_make_no_endless_graph() {
    let doubled: String = (1..40)
        .map(|at| {
            format!(
                "control c{at}(inout bit<8> x) {{ c{0}() a; c{0}() b; apply {{ a.apply(x); b.apply(x); }} }}\n",
                at - 1
            )
        })
        .collect();
    let text = format!("control c0(inout bit<8> x) {{ apply {{ x = 1; }} }}\n{doubled}");
    let place = directory("graphs-doubled", &text);
    assert_eq!(run(Tool::Graphs, &place, "DIR/a.p4 --graphs-dir=DIR").status, 0);
    let size = fs::metadata(place.join("c39.dot")).expect("written").len();
    assert!(size < 2_000_000, "{size} B");
}

#[test]
fn options_of_another_tool_are_refused_by_name() {
    let place = directory("tools-options", FILTER);
    for (tool, words, wanted) in [
        (Tool::Test, "--fullGraph DIR/a.p4", "there is no option --fullGraph"),
        (Tool::Format, "--validate DIR/a.p4", "there is no option --validate"),
        (Tool::Graphs, "DIR/a.p4 --graphs-dir", "--graphs-dir needs a value"),
        (Tool::Graphs, "", "no program is given"),
    ] {
        let outcome = run(tool, &place, words);
        assert_eq!(outcome.status, 1);
        assert!(outcome.messages.contains(wanted), "{}", outcome.messages);
    }
}
