//! Whole runs of the compiler: files in, files out.

use p4c::arguments::parse;
use p4c::run::{Outcome, run};
use std::fs;
use std::path::{Path, PathBuf};

const PROGRAM: &str = r#"#include <core.p4>
#include <v1model.p4>
struct headers_t { }
struct metadata_t { }
parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta,
             inout standard_metadata_t standard_metadata) {
    state start { transition accept; }
}
control nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }
control route(inout headers_t hdr, inout metadata_t meta,
              inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = PORT;
        UNUSED
    }
}
control send(packet_out packet, in headers_t hdr) { apply { } }
V1Switch(parse(), nothing(), route(), route(), nothing(), send()) main;
"#;

/// A fresh directory of this name with the program in it.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory can be made");
    fs::write(directory.join("program.p4"), PROGRAM).expect("a program can be written");
    directory
}

fn compile(directory: &Path, options: &str) -> Outcome {
    compile_as(directory, options, false)
}

/// The same, started as `p4c`.
fn drive(directory: &Path, options: &str) -> Outcome {
    compile_as(directory, options, true)
}

fn compile_as(directory: &Path, options: &str, is_driver: bool) -> Outcome {
    let place = directory.to_string_lossy();
    let words: Vec<String> =
        options.split_whitespace().map(|word| word.replace("DIR", &place)).collect();
    run(&parse(&words, is_driver).expect("the arguments are right"))
}

#[test]
fn json_and_p4info_are_written_for_a_sound_program() {
    let place = directory("sound");
    let outcome = compile(
        &place,
        "-DPORT=1 -DUNUSED= --p4runtime-files DIR/a.txtpb,DIR/a.bin -o DIR/a.json DIR/program.p4",
    );
    assert_eq!(outcome, Outcome::default());
    let json = fs::read_to_string(place.join("a.json")).expect("the JSON is written");
    assert!(json.contains("\"__meta__\""));
    let text = fs::read_to_string(place.join("a.txtpb")).expect("the P4Info is written");
    assert!(text.contains("arch: \"v1model\""));
    assert!(place.join("a.bin").exists());
}

#[test]
fn nothing_is_written_for_a_broken_program() {
    let place = directory("broken");
    let outcome = compile(&place, "-DPORT=unknown -DUNUSED= -o DIR/a.json DIR/program.p4");
    assert_eq!(outcome.status, 1);
    assert!(outcome.messages.contains("`unknown`"), "{}", outcome.messages);
    let files: Vec<_> = fs::read_dir(&place).expect("the directory is there").flatten().collect();
    assert_eq!(files.len(), 1, "only the program itself is there");
}

#[test]
fn warnings_can_be_errors_or_silent() {
    let place = directory("warnings");
    let unused = "-DPORT=1 -DUNUSED=bit<8>x;bit<8>y=x; -o DIR/a.json DIR/program.p4";
    let plain = compile(&place, unused);
    assert_eq!(plain.status, 0);
    assert!(plain.messages.contains("warning[uninitialized-use]"), "{}", plain.messages);
    assert_eq!(compile(&place, &format!("--Wdisable {unused}")), Outcome::default());
    let strict = compile(&place, &format!("--Werror=uninitialized-use {unused}"));
    assert_eq!(strict.status, 1);
    assert!(strict.messages.contains("error:"), "{}", strict.messages);
}

#[test]
fn preprocessing_alone_prints_the_program() {
    let place = directory("preprocess");
    let outcome = compile(&place, "-E -DPORT=7 -DUNUSED= DIR/program.p4");
    assert_eq!(outcome.status, 0);
    assert!(outcome.text.contains("standard_metadata.egress_spec = 7;"));
    assert!(outcome.text.contains("extern packet_in {"));
}

/// The names in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory is there").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_driver_makes_its_directory_and_leaves_what_p4langs_leaves() {
    let place = directory("driver");
    let options = "-b bmv2 -a v1model -DPORT=1 -DUNUSED= DIR/program.p4";
    assert_eq!(drive(&place, &format!("{options} -o DIR/new/x.bmv2")), Outcome::default());
    assert_eq!(names(&place.join("new/x.bmv2")), ["program.json", "program.p4i"]);
    // Only preprocessed, then compiled from there.
    assert_eq!(drive(&place, &format!("-E {options} -o DIR/steps")), Outcome::default());
    assert_eq!(names(&place.join("steps")), ["program.p4i"]);
    assert_eq!(drive(&place, "-e DIR/program.p4 -o DIR/steps"), Outcome::default());
    assert_eq!(names(&place.join("steps")), ["program.json", "program.p4i"]);
    let tables = |at: &str| {
        let json = fs::read(place.join(at)).expect("the JSON is written");
        let program = bmv2::read(&json).expect("the switch reads it");
        program.pipelines.into_iter().flat_map(|pipeline| pipeline.tables).count()
    };
    assert_eq!(tables("steps/program.json"), tables("new/x.bmv2/program.json"));
}

#[test]
fn the_driver_can_show_its_command_and_its_targets_and_do_nothing() {
    let place = directory("dry_run");
    let outcome = drive(&place, "-### -DPORT=1 -Xp4c=--emit-externs -o DIR/out DIR/program.p4");
    assert_eq!(outcome.status, 0);
    assert!(outcome.text.contains("-DPORT=1 --emit-externs -o "), "{}", outcome.text);
    assert_eq!(names(&place), ["program.p4"]);
    assert!(drive(&place, "--target-help").text.contains("bmv2-v1model"));
}

#[test]
fn a_rule_for_make_names_the_files_that_were_read() {
    let place = directory("make_rule");
    fs::create_dir_all(place.join("a dir")).expect("a directory can be made");
    fs::write(place.join("a dir/port.p4"), "#define PORT 1\n").expect("a file can be written");
    let program = format!("#include \"a dir/port.p4\"\n{PROGRAM}");
    fs::write(place.join("program.p4"), program).expect("a program can be written");
    let here = place.to_string_lossy();
    let files = format!("{here}/program.p4 \\\n {here}/a\\ dir/port.p4\n");
    let outcome = compile(&place, "-M -MT all -DUNUSED= DIR/program.p4");
    assert_eq!((outcome.status, outcome.text), (0, format!("all: {files}")));
    assert_eq!(names(&place), ["a dir", "program.p4"]);
    assert_eq!(drive(&place, "-MD -DUNUSED= -o DIR/out DIR/program.p4"), Outcome::default());
    assert_eq!(names(&place.join("out")), ["program.d", "program.json", "program.p4i"]);
    let rule = fs::read_to_string(place.join("out/program.d")).expect("the rule is written");
    assert_eq!(rule, format!("{here}/out/program.json: {files}"));
}

#[test]
fn disabled_annotations_change_the_names_on_the_control_plane() {
    let place = directory("annotations");
    let text = PROGRAM.replace("apply {\n        standard", "@name(\"other\") table t { actions = { NoAction; } }\n    apply {\n        t.apply(); standard");
    fs::write(place.join("program.p4"), text).expect("a program can be written");
    for (option, wanted) in [("", "route.other"), ("--disable-annotations=name", "route.t")] {
        let line =
            format!("{option} -DPORT=1 -DUNUSED= --p4runtime-files DIR/a.txtpb DIR/program.p4");
        assert_eq!(compile(&place, &line), Outcome::default());
        let info = fs::read_to_string(place.join("a.txtpb")).expect("the P4Info is written");
        assert!(info.contains(&format!("name: \"{wanted}\"")), "{info}");
    }
}

#[test]
fn rows_and_chains_are_as_long_as_somebody_writes_them() {
    let place = directory("rows");
    let port = "standard_metadata.ingress_port";
    let spec = "standard_metadata.egress_spec";
    let join = |length: usize, between: &str, item: &dyn Fn(usize) -> String| {
        (0..length).map(item).collect::<Vec<_>>().join(between)
    };
    // A thread of a test has a stack of 2 MB.
    for (what, statement) in [
        ("sum", format!("{spec} = {};", join(1500, " + ", &|_| port.to_owned()))),
        (
            "any",
            format!(
                "if ({}) {{ {spec} = 1; }}",
                join(1500, " || ", &|n| format!("{port} == {}", n % 512))
            ),
        ),
        (
            "chain",
            join(1500, "\nelse ", &|n| format!("if ({port} == {}) {{ {spec} = 2; }}", n % 512)),
        ),
        // Operators that cannot be bracketed otherwise are computed in parts.
        ("saturating", format!("{spec} = {};", join(200, " |+| ", &|_| port.to_owned()))),
    ] {
        let text = PROGRAM.replace("UNUSED", &statement);
        fs::write(place.join("program.p4"), text).expect("a program can be written");
        let outcome = compile(&place, "-DPORT=1 --Wdisable -o DIR/program.json DIR/program.p4");
        assert_eq!(outcome, Outcome::default(), "{what}");
        let json = fs::read(place.join("program.json")).expect("the program was written");
        assert!(bmv2::read(&json).is_ok(), "{what}: the switch reads it");
    }
}

/// The program of the server's tests that begins with three entries, one of them const.
#[test]
fn the_entries_of_a_program_are_a_request_that_writes_them() {
    let place = directory("entries");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../service/tests/support/entries.p4");
    let line = format!("--p4runtime-entries-files DIR/e.txtpb {}", program.display());
    assert_eq!(compile(&place, &line), Outcome::default());
    let text = fs::read_to_string(place.join("e.txtpb")).expect("the entries are written");
    assert_eq!(text.matches("type: INSERT").count(), 3, "{text}");
    let priorities: Vec<&str> = text.lines().filter(|it| it.contains("priority")).collect();
    let priorities: Vec<&str> = priorities.iter().map(|line| line.trim()).collect();
    assert_eq!(priorities, ["priority: 100", "priority: 50", "priority: 40"]);
    assert_eq!(text.matches("is_const: true").count(), 1, "{text}");
    assert!(text.contains("mask: \"\\377\"") && text.contains("value: \"\\002\""), "{text}");
}

#[test]
fn assertions_are_left_out_and_errors_counted_where_that_is_asked_for() {
    let place = directory("debug");
    let with = "-DPORT=1 -DUNUSED=assert(standard_metadata.ingress_port<9); -o DIR/a.json";
    for (flag, is_there) in [("", true), ("--ndebug", false)] {
        assert_eq!(compile(&place, &format!("{with} {flag} DIR/program.p4")), Outcome::default());
        let json = fs::read_to_string(place.join("a.json")).expect("the JSON is written");
        assert_eq!(json.contains("\"assert\""), is_there, "{flag}");
    }
    let outcome =
        compile(&place, "-DPORT=unknown -DUNUSED=other=1; --maxErrorCount 1 DIR/program.p4");
    assert_eq!(outcome.messages.matches("error:").count(), 1, "{}", outcome.messages);
}

/// A device or a pipe has no end, so only files are included. The program itself may come by a pipe.
#[test]
fn devices_and_pipes_are_not_included() {
    let directory = directory("devices");
    let pipe = directory.join("pipe.p4");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    for path in ["/dev/zero", "pipe.p4"] {
        let program = format!("#include \"{path}\"\n{PROGRAM}");
        fs::write(directory.join("program.p4"), program).expect("a program can be written");
        let outcome = compile(&directory, "-DPORT=1 -DUNUSED= -o DIR/out.json DIR/program.p4");
        assert_eq!(outcome.status, 1);
        assert!(outcome.messages.contains("it is a device or a pipe, not a file"), "{outcome:?}");
    }
}
