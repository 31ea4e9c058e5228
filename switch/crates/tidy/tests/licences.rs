//! The programs may be shipped: each crate that is linked into them has a licence that requires no
//! more than naming it.

use std::collections::BTreeMap;
use std::process::Command;

use tidy::{require_none, root};

/// Licences, and exceptions to them, that require no more.
const ALLOWED: &[&str] = &[
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];

/// Whether an allowed licence meets an expression of SPDX. Older crates write `/` for OR.
fn is_met(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (met, rest) = any_of(&words);
    met && rest.is_empty()
}

/// `all OR all OR ...`; what stands behind it is left.
fn any_of<'w>(words: &'w [&'w str]) -> (bool, &'w [&'w str]) {
    let (mut met, mut rest) = all_of(words);
    while let ["OR", after @ ..] = rest {
        let (also, behind) = all_of(after);
        (met, rest) = (met || also, behind);
    }
    (met, rest)
}

/// `one AND one AND ...`, which binds tighter.
fn all_of<'w>(words: &'w [&'w str]) -> (bool, &'w [&'w str]) {
    let (mut met, mut rest) = one(words);
    while let ["AND", after @ ..] = rest {
        let (also, behind) = one(after);
        (met, rest) = (met && also, behind);
    }
    (met, rest)
}

fn one<'w>(words: &'w [&'w str]) -> (bool, &'w [&'w str]) {
    match words {
        ["(", inside @ ..] => match any_of(inside) {
            (met, [")", rest @ ..]) => (met, rest),
            (_, rest) => (false, rest),
        },
        [licence, "WITH", exception, rest @ ..] => {
            (ALLOWED.contains(&format!("{licence} WITH {exception}").as_str()), rest)
        }
        [licence, rest @ ..] => (ALLOWED.contains(licence), rest),
        [] => (false, words),
    }
}

#[test]
fn every_crate_in_the_programs_has_a_licence_that_asks_for_no_more_than_to_be_named() {
    // Offline, so it lists what the build has fetched. `cargo metadata` would also want the crates of
    // `codegen`, which no build needs.
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--edges", "normal,build,dev"])
        .args(["--prefix", "none", "--format", "{p}|{l}"])
        .current_dir(root().join("switch"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    // A crate that was listed before ends with (*).
    let crates: BTreeMap<&str, &str> =
        tree.lines().filter_map(|line| line.trim_end_matches(" (*)").split_once('|')).collect();
    assert!(crates.len() > 100, "those of others are there, too");
    let refused = crates
        .iter()
        .filter(|(_, licence)| !is_met(licence))
        .map(|(package, licence)| format!("{package}: {licence}"));
    require_none("licences of what is linked", &refused.collect::<Vec<String>>());
}

#[test]
fn an_expression_is_met_by_one_of_several_and_by_all_that_are_asked_for() {
    for met in ["MIT", "Unlicense OR MIT", "GPL-3.0/MIT", "(MIT OR GPL-2.0) AND Unicode-3.0"] {
        assert!(is_met(met), "{met}");
    }
    let all = "Apache-2.0 WITH LLVM-exception OR GPL-3.0-only AND MIT";
    assert!(is_met(all));
    for unmet in ["", "GPL-3.0-only", "MIT AND GPL-3.0-only", "(MIT", "Apache-2.0 WITH Other"] {
        assert!(!is_met(unmet), "{unmet}");
    }
}
