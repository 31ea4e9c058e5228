//! Words of comments: each comment names its thing, and says it as an engineer would aloud.

use tidy::{SourceFile, files, require_none};

/// Beginnings that describe a thing by a clause instead of naming it: "What waits" is a depth, "Who
/// goes first" a scheduler.
const CLAUSES: [&str; 5] = ["What ", "Who ", "Whose ", "Whom ", "Whoever "];

/// Old words of ours, each with its replacement.
const REPLACED: [(&str, &str); 6] = [
    ("has in mind", "state"),
    ("have in mind", "state"),
    ("whoever", "the caller, driver, owner or another actor by its name"),
    ("to be had", "available"),
    ("mended", "repaired, fixed"),
    ("told of it", "notified"),
];

/// The text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["///", "//!", "//"].into_iter().find_map(|marker| line.strip_prefix(marker)).map(str::trim)
}

/// The mistake in a comment, with its correction. `is_first` is a comment's first line.
fn mistake(text: &str, is_first: bool) -> Option<String> {
    if let Some(clause) = CLAUSES.into_iter().find(|clause| is_first && text.starts_with(clause)) {
        return Some(format!("begins with \"{}\": name the thing", clause.trim()));
    }
    let lower = text.to_lowercase();
    REPLACED
        .into_iter()
        .find(|(old, _)| lower.contains(old))
        .map(|(old, new)| format!("\"{old}\": write {new}"))
}

fn mistakes_in(file: &SourceFile) -> Vec<String> {
    let mut is_first = true;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(file.text.lines()) {
        let text = comment(line);
        if let Some(mistake) = text.and_then(|text| mistake(text, is_first)) {
            found.push(format!("{}:{number}: {mistake}", file.path));
        }
        is_first = text.is_none_or(str::is_empty);
    }
    found
}

#[test]
fn comments_name_things_in_plain_english() {
    let is_ours = |file: &&SourceFile| {
        !file.path.contains("/generated/") && !file.path.ends_with("tidy/tests/words.rs")
    };
    let all = files("switch/crates/", ".rs");
    let violations: Vec<String> = all.iter().filter(is_ours).flat_map(mistakes_in).collect();
    require_none("comments are in plain English (docs/glossary.md)", &violations);
}

#[test]
fn clauses_and_old_words_are_found_in_comments_only() {
    assert!(mistake("What waits in the queue.", true).is_some());
    assert!(mistake("Whoever drives the device decides.", true).is_some());
    assert!(mistake("decided by whoever drives it.", false).is_some());
    assert_eq!(mistake("What follows is a continued sentence", false), None);
    assert_eq!(mistake("The depth of the queue.", true), None);
    assert_eq!(comment("    let said = \"What waits\";"), None);
}
