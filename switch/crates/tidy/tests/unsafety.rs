//! Every `unsafe` has a row in docs/unsafe.md, and every row an `unsafe`.

use std::collections::BTreeMap;
use std::fs;

use tidy::{files, require_none, root, without_comment};

const DOCUMENT: &str = "docs/unsafe.md";

/// A file below `switch/crates` and a function in it.
type Place = (String, String);

/// A row: how often the word is there, and the file of the test that runs it.
struct Row {
    times: usize,
    test: String,
}

fn rows() -> BTreeMap<Place, Row> {
    let text = fs::read_to_string(root().join(DOCUMENT)).expect("the document is there");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let ["", file, function, times, why, test, ""] = cells[..] else { return None };
        let times = times.parse().ok()?;
        assert!(!why.is_empty(), "{DOCUMENT}: {file}, {function}: no reason");
        Some(((file.to_owned(), function.to_owned()), Row { times, test: test.to_owned() }))
    };
    text.lines().filter_map(row).collect()
}

/// How often a line has the word, outside of comments and of longer words.
fn times(line: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    // Rust has no other use for it, so a text contains it only to search for it.
    without_comment(line).split(|c| !is_word(c)).filter(|word| *word == "unsafe").count()
}

/// The function, type or block of declarations that a line begins.
fn begun(line: &str) -> Option<&str> {
    let code = line.trim_start();
    if code.starts_with("unsafe extern") && code.ends_with('{') && !code.contains("fn ") {
        return Some("extern");
    }
    let named = match code.find("fn ") {
        Some(at) if at == 0 || code[..at].ends_with(' ') => &code[at + 3..],
        _ if code.starts_with("unsafe impl") => code.split_once(" for ")?.1,
        _ => code.strip_prefix("type ")?,
    };
    let end = named.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(named.len());
    // `fn(` is the type of a function, which has no name.
    (end > 0).then(|| &named[..end])
}

/// Where the word stands in a file, and how often.
fn found(text: &str) -> BTreeMap<String, usize> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = BTreeMap::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| times(line) > 0) {
        // An attribute precedes its item, everything else is within.
        let name = match line.trim_start().starts_with("#[") {
            true => lines[at..].iter().find_map(|line| begun(line)),
            false => lines[..=at].iter().rev().find_map(|line| begun(without_comment(line))),
        };
        *found.entry(name.unwrap_or("-").to_owned()).or_default() += times(line);
    }
    found
}

#[test]
fn every_unsafe_has_a_row_that_says_why_and_which_test_runs_it() {
    let rows = rows();
    let mut violations = Vec::new();
    let mut there: BTreeMap<Place, usize> = BTreeMap::new();
    for file in files("switch/crates/", ".rs") {
        // The words of this rule are in here.
        if file.path.starts_with("switch/crates/tidy/") {
            continue;
        }
        let short = file.path.trim_start_matches("switch/crates/");
        for (function, times) in found(&file.text) {
            there.insert((short.to_owned(), function), times);
        }
    }
    assert!(there.len() > 40, "the search has found next to nothing");
    for ((file, function), times) in &there {
        match rows.get(&(file.clone(), function.clone())) {
            None => violations.push(format!("{file}: {function} ({times}): has no row")),
            Some(row) if row.times != *times => {
                violations.push(format!("{file}: {function}: {times}, and not {}", row.times));
            }
            Some(_) => {}
        }
    }
    for ((file, function), Row { test, .. }) in &rows {
        if !there.contains_key(&(file.clone(), function.clone())) {
            violations.push(format!("{file}: {function}: has a row and no `unsafe`"));
        }
        if ![root().join(test), root().join("switch/crates").join(test)]
            .iter()
            .any(|it| it.exists())
        {
            violations.push(format!("{file}: {function}: there is no test {test}"));
        }
    }
    require_none(&format!("every `unsafe` has a row in {DOCUMENT}, as it is now"), &violations);
}

#[test]
fn the_word_is_found_with_what_it_stands_in() {
    let text = "\
unsafe extern \"C\" {
    safe fn option() -> i32;
}
type Leave = unsafe extern \"C\" fn(u64);
unsafe impl Send for Batch {}
#[unsafe(no_mangle)]
pub extern \"C\" fn begin() {}
fn bind() {
    // An unsafe word in a comment.
    unsafe { listen(unsafe_code) };
    let both = (unsafe { one() }, unsafe { two() });
}
";
    let expected = [("Batch", 1), ("Leave", 1), ("begin", 1), ("bind", 3), ("extern", 1)];
    let expected = expected.map(|(name, times)| (name.to_owned(), times));
    assert_eq!(found(text), BTreeMap::from(expected));
}
