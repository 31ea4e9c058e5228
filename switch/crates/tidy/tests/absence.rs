//! Things that must not occur in the core: clocks, threads, sockets, files, printing, chance by
//! iteration.

use tidy::{files, require_none, rust_files, without_comment};

/// The crates whose results depend on their arguments alone.
const CORE: &[&str] = &[
    "units",
    "chance",
    "bits",
    "wire",
    "frames",
    "bmv2",
    "p4info",
    "syntax",
    "compiler",
    "language",
    "tables",
    "pipeline",
    "traffic",
    "device",
    "stf",
    "hosts",
    "queueing",
    "world",
    "p4runtime",
    "agent",
    "thrift",
    "bmruntime",
    "stage",
    "page",
];

/// Where the order of iteration could reach a packet or a report.
const ORDERED: &[&str] = &[
    "tables",
    "pipeline",
    "traffic",
    "device",
    "stf",
    "hosts",
    "queueing",
    "p4runtime",
    "agent",
    "thrift",
    "bmruntime",
    "stage",
    "page",
];

const BANNED: [&str; 14] = [
    "Instant::now",
    "SystemTime",
    "std::thread",
    "thread::spawn",
    "sleep(",
    "println!",
    "print!(",
    "dbg!(",
    "std::net",
    "std::fs",
    "std::env",
    "std::process",
    "thread_rng",
    "RandomState",
];

fn banned_in(line: &str) -> Option<&'static str> {
    let code = without_comment(line);
    BANNED.into_iter().find(|banned| code.contains(banned))
}

#[test]
fn the_core_touches_no_clock_thread_socket_file_or_terminal() {
    let mut violations = Vec::new();
    // A bench reads the clock and prints, an example is a program of its own: that is what they are
    // for.
    let is_own = |path: &str| path.contains("/benches/") || path.contains("/examples/");
    for file in rust_files(CORE, false).into_iter().filter(|file| !is_own(&file.path)) {
        for (number, line) in file.lines_before_tests() {
            if let Some(banned) = banned_in(line) {
                violations.push(format!("{}:{number}: `{banned}`", file.path));
            }
        }
    }
    require_none(
        "time and input are arguments in the core (DESIGN: the core is sans-IO)",
        &violations,
    );
}

/// The time of day is for logs and captures, and for fields that the specification stamps with it:
/// nothing is measured or awaited by it, because it may be set. `tests/test_clocks.py` says the
/// same of Python.
const READERS_OF_THE_WALL_CLOCK: [&str; 2] =
    ["switch/crates/service/src/server.rs", "switch/crates/switchd/src/clock.rs"];

#[test]
fn the_time_of_day_is_read_in_two_places() {
    let read_there: Vec<String> = files("switch/crates/", ".rs")
        .into_iter()
        .filter(|file| !file.path.contains("/tidy/"))
        .filter(|file| {
            file.lines_before_tests().any(|(_, line)| without_comment(line).contains("SystemTime"))
        })
        .map(|file| file.path)
        .collect();
    assert_eq!(read_there, READERS_OF_THE_WALL_CLOCK, "Instant measures lengths of time");
}

#[test]
fn the_search_for_banned_calls_finds_them_in_code_and_not_in_comments() {
    assert_eq!(banned_in("    let t = Instant::now();"), Some("Instant::now"));
    assert_eq!(banned_in("    use std::{fs}; let a = std::fs::read(p);"), Some("std::fs"));
    assert_eq!(banned_in("    // Instant::now() would break determinism"), None);
}

/// The names that a file declares with a hashing type: fields, parameters, annotated locals, and
/// locals made by a constructor.
fn hashed_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines().map(without_comment) {
        for kind in ["HashMap", "HashSet"] {
            let Some(at) = line.find(kind) else { continue };
            let before = line[..at].trim_end_matches(['&', ' ', ':', '=', '<', '(']);
            let name: String =
                before.chars().rev().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let name: String = name.chars().rev().collect();
            if !name.is_empty() && !matches!(name.as_str(), "use" | "mut" | "collections" | "std") {
                names.push(name);
            }
        }
    }
    names
}

/// The first iteration over one of `names` in a line.
fn iteration_over<'n>(line: &str, names: &'n [String]) -> Option<&'n str> {
    const CALLS: [&str; 8] = [
        "iter()",
        "iter_mut()",
        "keys()",
        "values()",
        "values_mut()",
        "drain(",
        "into_iter()",
        "into_keys()",
    ];
    let code = without_comment(line);
    names.iter().map(String::as_str).find(|name| {
        let called = CALLS.iter().any(|call| code.contains(&format!("{name}.{call}")));
        let looped = [" in ", " in &", " in &mut ", " in self.", " in &self.", " in &mut self."]
            .iter()
            .any(|lead| code.trim_end().ends_with(&format!("{lead}{name} {{")));
        called || looped
    })
}

#[test]
fn nothing_iterates_over_a_hash_table_where_the_order_could_show() {
    let mut violations = Vec::new();
    for file in rust_files(ORDERED, false) {
        let names = hashed_names(&file.text);
        for (number, line) in file.lines_before_tests() {
            if let Some(name) = iteration_over(line, &names) {
                violations.push(format!("{}:{number}: iterates over `{name}`", file.path));
            }
        }
    }
    require_none("hash tables are for looking up; what is iterated is ordered", &violations);
}

#[test]
fn the_search_for_iteration_knows_fields_locals_and_loops() {
    let text = "struct T { by_key: HashMap<u8, u8> }\nlet seen = HashSet::new();\n";
    let names = hashed_names(text);
    assert_eq!(names, ["by_key", "seen"]);
    assert_eq!(iteration_over("    for (k, v) in &self.by_key {", &names), Some("by_key"));
    assert_eq!(iteration_over("    let n = seen.iter().count();", &names), Some("seen"));
    assert_eq!(iteration_over("    let v = self.by_key.get(&3);", &names), None);
}
