//! The direction of dependencies between our crates, as `cargo metadata` reports them.
//!
//! A crate may use the crates of its row and nothing else of ours. A change here is a change of
//! the architecture: ARCHITECTURE.md draws the same picture.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;
use tidy::{require_none, root};

/// What each crate may use of our own, in the order in which one can read the code.
const MAY_USE: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("bits", &[]),
    ("wire", &[]),
    ("frames", &["units"]),
    ("bmv2", &["bits"]),
    ("p4info", &[]),
    ("syntax", &["bits"]),
    ("compiler", &["bits", "bmv2", "p4info", "syntax"]),
    ("language", &["compiler", "syntax"]),
    ("tables", &["bits", "bmv2", "units"]),
    ("pipeline", &["bits", "bmv2", "frames", "tables", "units", "wire"]),
    ("native", &["pipeline"]),
    ("chance", &["units"]),
    ("traffic", &["chance", "units", "wire"]),
    ("device", &["bits", "bmv2", "frames", "pipeline", "traffic", "units", "wire"]),
    ("stf", &["bits", "bmv2", "device", "pipeline", "traffic", "units"]),
    ("queueing", &["traffic", "units"]),
    ("hosts", &["chance", "frames", "units", "wire"]),
    ("world", &["bits", "device", "frames", "hosts", "pipeline", "traffic", "units", "wire"]),
    ("ports", &["units", "wire"]),
    ("messages", &[]),
    ("p4runtime", &["bits", "device", "messages", "pipeline", "traffic", "units"]),
    ("agent", &["bits", "device", "messages", "p4runtime", "pipeline", "traffic", "units"]),
    (
        "stage",
        &[
            "agent",
            "device",
            "frames",
            "hosts",
            "messages",
            "p4runtime",
            "pipeline",
            "traffic",
            "units",
            "wire",
            "world",
        ],
    ),
    ("thrift", &[]),
    (
        "bmruntime",
        &["agent", "bits", "bmv2", "messages", "p4runtime", "pipeline", "thrift", "units"],
    ),
    (
        "service",
        &["agent", "bmruntime", "messages", "p4runtime", "pipeline", "stage", "thrift", "units"],
    ),
    (
        "switchd",
        &[
            "agent",
            "bits",
            "device",
            "frames",
            "native",
            "p4runtime",
            "pipeline",
            "ports",
            "service",
            "traffic",
            "units",
        ],
    ),
    (
        "page",
        &[
            "agent",
            "bmv2",
            "compiler",
            "device",
            "language",
            "messages",
            "p4info",
            "p4runtime",
            "pipeline",
            "stage",
            "stf",
            "units",
        ],
    ),
    ("p4c", &["bmv2", "compiler", "language", "p4info", "syntax"]),
    (
        "sim",
        &[
            "agent", "bits", "bmv2", "compiler", "device", "hosts", "native", "p4c", "p4info",
            "pipeline", "queueing", "service", "stage", "stf", "traffic", "units",
        ],
    ),
    ("vitrine", &["p4c", "ports", "sim", "switchd"]),
    ("fuzz", &["bmv2", "compiler", "pipeline"]),
    ("tidy", &[]),
];

/// Crates that may not reach the operating system through anybody else's crate either.
const PURE: &[&str] = &[
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
    "messages",
    "p4runtime",
    "agent",
    "thrift",
    "bmruntime",
    "stage",
    "page",
];
const IMPURE_EXTERNALS: [&str; 8] =
    ["libc", "nix", "tokio", "tonic", "mio", "rand", "getrandom", "socket2"];

/// Every crate of ours with the names of what it uses outside its tests.
fn used_by_each_crate() -> BTreeMap<String, Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root().join("switch"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().expect("packages");
    let uses = |package: &Value| -> Vec<String> {
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        let at_run_time = dependencies.iter().filter(|d| d["kind"] != "dev");
        at_run_time.map(|d| text(&d["name"])).collect()
    };
    packages
        .iter()
        .map(|package| (ours(&text(&package["name"])).to_owned(), uses(package)))
        .collect()
}

fn ours(package: &str) -> &str {
    package.strip_prefix("vitrine-").unwrap_or(package)
}

#[test]
fn crates_use_only_what_the_architecture_allows() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let mut violations = Vec::new();
    for (name, uses) in used_by_each_crate() {
        let Some(row) = allowed.get(name.as_str()) else {
            violations.push(format!("`{name}` is not in the table"));
            continue;
        };
        for used in uses.iter().filter(|used| used.starts_with("vitrine-")) {
            if !row.contains(&ours(used)) {
                violations.push(format!("`{name}` uses `{}`", ours(used)));
            }
        }
    }
    require_none("the direction of dependencies (ARCHITECTURE.md)", &violations);
}

#[test]
fn the_core_uses_no_crate_that_does_input_or_output() {
    let mut violations = Vec::new();
    for (name, uses) in used_by_each_crate() {
        let core = PURE.contains(&name.as_str());
        for used in uses.iter().filter(|used| core && IMPURE_EXTERNALS.contains(&used.as_str())) {
            violations.push(format!("`{name}` uses `{used}`"));
        }
    }
    require_none("the core reaches no operating system", &violations);
}

/// What reaches no operating system runs in a web page. `tests/rust.sh` builds the page, and with it
/// all that it is made of; the rest it names.
#[test]
fn all_of_the_core_is_built_for_web_pages() {
    let used = used_by_each_crate();
    let mut built = vec!["page".to_owned()];
    let mut at = 0;
    while let Some(name) = built.get(at).cloned() {
        for each in used.get(&name).into_iter().flatten().map(|each| ours(each)) {
            if used.contains_key(each) && !built.iter().any(|known| known == each) {
                built.push(each.to_owned());
            }
        }
        at += 1;
    }
    let script = std::fs::read_to_string(root().join("tests/rust.sh")).expect("tests/rust.sh");
    assert!(script.contains("vm/page.sh"), "tests/rust.sh builds the page");
    let is_built = |name: &str| {
        let named =
            script.split([' ', ')', '\n']).any(|word| word.strip_prefix("vitrine-") == Some(name));
        named || built.iter().any(|each| each == name)
    };
    let left_out: Vec<String> =
        PURE.iter().filter(|name| !is_built(name)).map(|name| format!("`{name}`")).collect();
    require_none("the core is built for web pages (tests/rust.sh)", &left_out);
}
