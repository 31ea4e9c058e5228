//! Sizes and completeness of files: what can be read in one sitting, and nothing that lies dead.

use tidy::{SourceFile, files, require_none};

const FILE_LINES_MAX: usize = 900;
const FUNCTION_LINES_MAX: usize = 70;
/// Files explain themselves: the first lines say what they hold.
const HEADER_WITHIN_LINES: usize = 3;

/// All Rust files but the generated ones.
fn rust() -> Vec<SourceFile> {
    let mut found = files("switch/crates/", ".rs");
    found.retain(|file| !file.path.contains("/generated/"));
    found
}

#[test]
fn files_are_short_enough_to_be_read() {
    let too_long = |file: &SourceFile| {
        let lines = file.lines_before_tests().count();
        (lines > FILE_LINES_MAX).then(|| format!("{}: {lines} lines", file.path))
    };
    let violations: Vec<String> =
        rust().iter().chain(&files("controller/", ".py")).filter_map(too_long).collect();
    require_none(
        &format!("no file has more than {FILE_LINES_MAX} lines before its tests"),
        &violations,
    );
}

/// Functions longer than the limit: the line where each begins, and its length. Relies on rustfmt:
/// a function ends at the first closing brace that is indented as its `fn` is.
fn long_functions(text: &str) -> Vec<(usize, usize)> {
    let mut open: Option<(usize, usize)> = None;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let indent = line.len() - line.trim_start().len();
        let code = line.trim_start();
        let is_fn = [
            "fn ",
            "pub fn ",
            "pub(crate) fn ",
            "pub(super) fn ",
            "const fn ",
            "pub const fn ",
            "async fn ",
            "pub async fn ",
        ]
        .iter()
        .any(|start| code.starts_with(start));
        // A signature without a body, and a body on the same line, end where they begin.
        if open.is_none() && is_fn && !code.ends_with([';', '}']) {
            open = Some((number, indent));
        }
        if let Some((start, at)) = open
            && indent == at
            && (code == "}" || code.ends_with(';') || (number > start && code == "};"))
        {
            let length = number - start + 1;
            if length > FUNCTION_LINES_MAX {
                found.push((start, length));
            }
            open = None;
        }
    }
    found
}

#[test]
fn functions_fit_on_a_page() {
    let violations: Vec<String> = rust()
        .iter()
        .flat_map(|file| {
            let long = long_functions(&file.text).into_iter();
            long.map(|(line, length)| format!("{}:{line}: {length} lines", file.path))
        })
        .collect();
    require_none(&format!("no function has more than {FUNCTION_LINES_MAX} lines"), &violations);
}

#[test]
fn the_search_for_long_functions_measures_them() {
    let body = "    let x = 1;\n".repeat(70);
    let text = format!("fn none() {{}}\nfn short() {{\n}}\nfn long() {{\n{body}}}\n");
    assert_eq!(long_functions(&text), [(4, 72)]);
}

#[test]
fn every_source_file_is_part_of_a_crate() {
    let all = rust();
    let manifests = files("switch/crates/", "Cargo.toml");
    // Where `tests/main.rs` gathers the tests, only the manifest makes another file a program.
    let is_program_of_its_own = |path: &str, part: &str| {
        let Some((folder, name)) = path.split_once(part) else { return false };
        let gathered = all.iter().any(|file| file.path == format!("{folder}/tests/main.rs"));
        let manifest = manifests.iter().find(|file| file.path == format!("{folder}/Cargo.toml"));
        let named = format!("name = \"{}\"", name.trim_end_matches(".rs"));
        !name.contains('/')
            && (part != "/tests/"
                || !gathered
                || name == "main.rs"
                || manifest.is_some_and(|manifest| manifest.text.contains(&named)))
    };
    let is_root = |path: &str| {
        ["/src/lib.rs", "/src/main.rs", "/build.rs"].iter().any(|end| path.ends_with(end))
            || ["/tests/", "/benches/", "/examples/"]
                .iter()
                .any(|part| is_program_of_its_own(path, part))
    };
    let included = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let module = name.strip_suffix(".rs").unwrap_or(name);
        let module = match module {
            "mod" => path.rsplit('/').nth(1).unwrap_or(module),
            other => other,
        };
        let declared = format!("mod {module};");
        let by_path = format!("{name}\"]");
        let folder = |path: &str| {
            let parts = ["/src/", "/tests/", "/benches/"];
            parts.iter().fold(path, |path, part| path.split(part).next().unwrap_or(path)).to_owned()
        };
        all.iter()
            .filter(|other| folder(&other.path) == folder(path))
            .any(|other| other.text.contains(&declared) || other.text.contains(&by_path))
    };
    let dead = |file: &&SourceFile| !is_root(&file.path) && !included(&file.path);
    let violations: Vec<String> = all.iter().filter(dead).map(|file| file.path.clone()).collect();
    require_none("every file is included by somebody", &violations);
}

#[test]
fn every_file_says_on_top_what_it_holds() {
    let silent = |file: &SourceFile, marks: &[&str]| {
        let begins = |line: &str| marks.iter().any(|mark| line.trim_start().starts_with(mark));
        let told = file.text.lines().take(HEADER_WITHIN_LINES).any(begins);
        (!told && !file.text.trim().is_empty()).then(|| file.path.clone())
    };
    let mut violations: Vec<String> = rust().iter().filter_map(|f| silent(f, &["//!"])).collect();
    violations.extend(files("p4src/", ".p4").iter().filter_map(|f| silent(f, &["//", "/*"])));
    for folder in ["controller/", "topo/", "apps/", "labs/"] {
        violations
            .extend(files(folder, ".py").iter().filter_map(|f| silent(f, &["\"\"\"", "r\"\"\""])));
    }
    require_none("a file begins by saying what it holds", &violations);
}

/// The mark means a student's task, and only below labs/.
#[test]
fn nobody_leaves_a_todo() {
    let mark = concat!("TO", "DO");
    let folders =
        ["switch/", "p4src/", "controller/", "topo/", "apps/", "vm/", "docs/", "Makefile"];
    let mut violations = Vec::new();
    for file in folders.iter().flat_map(|folder| files(folder, "")) {
        for (number, line) in (1..).zip(file.text.lines()) {
            if line.contains(mark) {
                violations.push(format!("{}:{number}", file.path));
            }
        }
    }
    require_none("what is to be done is an issue, not a comment", &violations);
}
