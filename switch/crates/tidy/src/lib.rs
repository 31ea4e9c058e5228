//! Shared by the tests about the repository: its files, and complaints.
//!
//! ARCHITECTURE.md states rules, mostly of absence; the tests of this crate are those rules. A
//! rule collects every violation before it fails, so one run shows all there is to do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One file of the repository: its path from the root, and its text.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// With `/` between the parts, such as `switch/crates/units/src/lib.rs`.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().expect("the root exists")
}

/// Every text file below `folder` (the root if empty) that git tracks or would track and whose path
/// ends with `suffix`, in the order of their paths.
pub fn files(folder: &str, suffix: &str) -> Vec<SourceFile> {
    let root = root();
    let listing = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "--"])
        .arg(if folder.is_empty() { "." } else { folder })
        .current_dir(&root)
        .output()
        .expect("git lists the repository's files");
    assert!(listing.status.success(), "git ls-files failed: {listing:?}");
    let mut paths: Vec<String> = String::from_utf8_lossy(&listing.stdout)
        .lines()
        .filter(|path| path.ends_with(suffix))
        .map(str::to_owned)
        .collect();
    paths.sort();
    paths.dedup();
    let read = |path: String| {
        // A tracked file may have been removed from the working tree, and some are not text.
        let text = fs::read_to_string(root.join(&path)).ok()?;
        Some(SourceFile { path, text })
    };
    paths.into_iter().filter_map(read).collect()
}

/// The Rust files of these crates; their tests and benchmarks are included if `with_tests`.
pub fn rust_files(crates: &[&str], with_tests: bool) -> Vec<SourceFile> {
    let is_test = |path: &str| {
        path.contains("/tests/") || path.contains("/benches/") || path.ends_with("tests.rs")
    };
    crates
        .iter()
        .flat_map(|name| files(&format!("switch/crates/{name}/"), ".rs"))
        .filter(|file| with_tests || !is_test(&file.path))
        .collect()
}

impl SourceFile {
    /// The file's lines with their numbers from 1, up to where its unit tests begin.
    pub fn lines_before_tests(&self) -> impl Iterator<Item = (usize, &str)> {
        let in_tests = |line: &str| line.trim_start().starts_with("#[cfg(test)]");
        (1..).zip(self.text.lines().take_while(move |line| !in_tests(line)))
    }
}

/// The code of a Rust line: without a line comment. Quoted slashes are kept where a quote opens
/// before them.
pub fn without_comment(line: &str) -> &str {
    match line.find("//") {
        Some(at) if line[..at].matches('"').count().is_multiple_of(2) => &line[..at],
        _ => line,
    }
}

/// Fails with every violation, one a line, under the rule they break.
pub fn require_none(rule: &str, violations: &[String]) {
    assert!(violations.is_empty(), "{rule}\n  {}\n", violations.join("\n  "));
}
