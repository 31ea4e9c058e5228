//! Whoever ships the programs may: each crate that is linked into them has a licence that asks for no
//! more than to be named.

use std::process::Command;

use serde_json::Value;
use tidy::{require_none, root};

/// Licences, and exceptions to them, that ask for no more.
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

/// Whether an expression of SPDX can be met with what is allowed. Older crates write `/` for OR.
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
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    // Nothing is fetched: what the programs are built from is here.
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked", "--offline"])
        .args(["--filter-platform", &platform])
        .current_dir(root().join("switch"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 100, "those of others are there, too");
    let refused = packages.iter().filter_map(|package| {
        let licence = package["license"].as_str().unwrap_or("none is named");
        (!is_met(licence)).then(|| format!("{}: {licence}", package["name"]))
    });
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
