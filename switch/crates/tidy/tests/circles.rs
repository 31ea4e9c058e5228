//! No circles between the files of a crate, but for those listed here, each with its reason.
//!
//! A file uses another where it names a path through `crate`, `super` or `self` that leads there.
//! A file that names modules below itself is not counted: that is how the tree of modules is made.

use std::collections::{BTreeMap, BTreeSet};

use tidy::{SourceFile, files, require_none};

/// Crate, modules in the order of their names, and why they may use each other.
const ALLOWED: &[(&str, &str, &str)] = &[
    (
        "device",
        "capture device lines memory watch",
        "one type, whose methods are sorted into files",
    ),
    ("world", "cable capture ledger report world", "one type, whose methods are sorted into files"),
];

type Graph = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

#[test]
fn files_of_a_crate_use_each_other_in_no_circle() {
    let mut by_crate: BTreeMap<String, Vec<SourceFile>> = BTreeMap::new();
    for file in files("switch/crates", ".rs") {
        let parts: Vec<&str> = file.path.split('/').collect();
        if parts.get(3) == Some(&"src") && !file.path.contains("tests") {
            by_crate.entry(parts[2].to_owned()).or_default().push(file);
        }
    }
    let mut found: BTreeSet<(String, String)> = BTreeSet::new();
    for (name, files) in &by_crate {
        let circles = circles(&graph(files));
        found.extend(circles.into_iter().map(|circle| (name.clone(), circle)));
    }
    let allowed: BTreeSet<(String, String)> = ALLOWED
        .iter()
        .map(|(name, circle, _)| ((*name).to_owned(), (*circle).to_owned()))
        .collect();
    let new = found.difference(&allowed).map(|(name, circle)| {
        format!("`{name}`: {circle} use each other; what they share belongs into a file below them")
    });
    let gone = allowed.difference(&found).map(|(name, circle)| {
        format!("`{name}`: {circle} is no circle any more; take its row out of this test")
    });
    require_none("no circles between files", &new.chain(gone).collect::<Vec<_>>());
}

#[test]
fn a_circle_is_found_and_a_tree_is_none() {
    let file = |path: &str, text: &str| SourceFile {
        path: format!("switch/crates/any/src/{path}"),
        text: text.to_owned(),
    };
    let tree = [
        file("lib.rs", "mod a;\nmod b;\npub use a::A;"),
        file("a/mod.rs", "mod c;\nuse c::C;\nuse super::b::{self, B};"),
        file("a/c.rs", "use crate::b::B;"),
        file("b.rs", "// use crate::a::A;\n#[cfg(test)]\nmod tests {\n use crate::a::A;\n}"),
    ];
    assert_eq!(circles(&graph(&tree)), Vec::<String>::new());
    let mut circle = tree.to_vec();
    circle[3] = file("b.rs", "fn b() -> crate::a::c::C {}");
    assert_eq!(circles(&graph(&circle)), ["a::c b"]);
}

/// Which module uses which.
fn graph(files: &[SourceFile]) -> Graph {
    let modules: Vec<Vec<String>> = files.iter().map(|file| module(&file.path)).collect();
    let mut graph: Graph = modules.iter().map(|each| (each.clone(), BTreeSet::new())).collect();
    for (file, module) in files.iter().zip(&modules) {
        for path in paths(&code(&file.text)) {
            let mut used = resolved(module, &path);
            while !used.is_empty() && !modules.contains(&used) {
                let _last = used.pop();
            }
            if !used.is_empty() && !used.starts_with(module) {
                let uses = graph.get_mut(module).expect("every module is in the graph");
                let _new = uses.insert(used);
            }
        }
    }
    graph
}

/// The module of a file, from the crate's root.
fn module(path: &str) -> Vec<String> {
    let below = path.split_once("/src/").map_or(path, |(_, below)| below);
    let mut parts: Vec<String> =
        below.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        let _name = parts.pop();
    }
    parts
}

/// The text without comments and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    text.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Every path that begins in this crate, with the groups of `use` written out.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for start in ["crate", "super", "self"] {
        for (at, _) in code.match_indices(&format!("{start}::")) {
            let before = code[..at].chars().next_back().unwrap_or(' ');
            if !before.is_alphanumeric() && !matches!(before, '_' | ':') {
                expand(&code[at..], &[], &mut found);
            }
        }
    }
    found
}

/// Adds what a path leads to, and returns what is behind it.
fn expand<'a>(text: &'a str, before: &[String], found: &mut Vec<Vec<String>>) -> &'a str {
    let mut path = before.to_vec();
    let mut rest = text.trim_start();
    loop {
        if let Some(mut group) = rest.strip_prefix('{') {
            while !group.is_empty() && !group.starts_with('}') {
                let behind = expand(group, &path, found);
                // An alias, and the comma.
                group = behind.trim_start_matches(|c: char| c != ',' && c != '}');
                group = group.strip_prefix(',').unwrap_or(group).trim_start();
            }
            return group.strip_prefix('}').unwrap_or(group);
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end > 0 {
            path.push(rest[..end].to_owned());
        }
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            Some(further) if end > 0 => rest = further,
            _ => break,
        }
    }
    found.push(path);
    rest
}

/// A path from a module, from the crate's root.
fn resolved(module: &[String], path: &[String]) -> Vec<String> {
    let mut at =
        if path.first().is_some_and(|first| first == "crate") { &[] } else { module }.to_vec();
    for part in path {
        match part.as_str() {
            "crate" | "self" => {}
            "super" => {
                let _last = at.pop();
            }
            _ => at.push(part.clone()),
        }
    }
    at
}

/// Modules that reach each other, each circle as the names of its modules.
fn circles(graph: &Graph) -> Vec<String> {
    let reached: BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> =
        graph.keys().map(|from| (from, reach(graph, from))).collect();
    let mut found = BTreeSet::new();
    for (from, reaches) in &reached {
        let circle: Vec<String> = (reaches.iter())
            .filter(|to| reached[*to].contains(*from))
            .map(|to| to.join("::"))
            .collect();
        if circle.len() > 1 {
            let _new = found.insert(circle.join(" "));
        }
    }
    found.into_iter().collect()
}

fn reach<'a>(graph: &'a Graph, from: &'a Vec<String>) -> BTreeSet<&'a Vec<String>> {
    let mut reached = BTreeSet::new();
    let mut ahead: Vec<&Vec<String>> = graph[from].iter().collect();
    while let Some(each) = ahead.pop() {
        if reached.insert(each) {
            ahead.extend(&graph[each]);
        }
    }
    reached
}
