//! The direction of dependencies between our crates, as `cargo metadata` reports them.
//!
//! A crate uses the crates of its row and nothing else of ours, and a row only crates of the rows
//! above it, so that there are no circles. A change here is a change of the architecture:
//! ARCHITECTURE.md draws the same picture. `switch/fuzz` is a workspace of its own; of that only its lock
//! file is looked at.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;
use tidy::{require_none, root};

/// The crates of ours that each crate uses, in the order in which one can read the code.
const USES: &[(&str, &[&str])] = &[
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
    ("device", &["bits", "frames", "pipeline", "traffic", "units", "wire"]),
    ("stf", &["bits", "bmv2", "device", "pipeline", "traffic", "units"]),
    ("queueing", &["traffic", "units"]),
    ("hosts", &["chance", "frames", "units", "wire"]),
    ("world", &["bits", "device", "frames", "hosts", "pipeline", "traffic", "units", "wire"]),
    ("ports", &["wire"]),
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
        &[
            "agent",
            "bits",
            "bmv2",
            "device",
            "messages",
            "p4runtime",
            "pipeline",
            "thrift",
            "units",
        ],
    ),
    (
        "service",
        &[
            "agent",
            "bmruntime",
            "bmv2",
            "device",
            "messages",
            "p4runtime",
            "pipeline",
            "stage",
            "thrift",
            "units",
        ],
    ),
    (
        "switchd",
        &[
            "agent",
            "bits",
            "bmv2",
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
    (
        "strangers",
        &[
            "agent",
            "bits",
            "bmruntime",
            "bmv2",
            "compiler",
            "device",
            "frames",
            "messages",
            "p4info",
            "p4runtime",
            "pipeline",
            "ports",
            "stage",
            "stf",
            "thrift",
            "traffic",
            "units",
        ],
    ),
    ("p4c", &["bmv2", "compiler", "language", "p4info", "syntax"]),
    (
        "sim",
        &[
            "agent", "bits", "bmv2", "compiler", "device", "hosts", "native", "p4c", "pipeline",
            "queueing", "service", "stage", "stf", "traffic", "units",
        ],
    ),
    ("vitrine", &["p4c", "ports", "sim", "switchd"]),
    ("tidy", &[]),
    ("codegen", &[]),
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

/// Every crate of ours with the names of those it uses outside its tests.
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

/// The mistakes in a table of crates, each with those it uses.
fn differences(
    table: &[(&str, &[&str])],
    used_by_each: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let mut found = Vec::new();
    for (at, (name, row)) in table.iter().enumerate() {
        let Some(used) = used_by_each.get(*name) else {
            found.push(format!("`{name}` is in the table, but no crate of the workspace"));
            continue;
        };
        let used: Vec<&str> = used
            .iter()
            .filter(|used| used.starts_with("vitrine-"))
            .map(|used| ours(used))
            .collect();
        let beyond = used.iter().filter(|used| !row.contains(used));
        found.extend(beyond.map(|used| format!("`{name}` uses `{used}`, which its row lacks")));
        let unused = row.iter().filter(|each| !used.contains(each));
        found.extend(unused.map(|each| format!("`{name}` does not use `{each}` of its row")));
        let upwards =
            row.iter().filter(|each| !table[..at].iter().any(|(above, _)| above == *each));
        found.extend(upwards.map(|each| format!("`{name}` stands above `{each}`, which it uses")));
    }
    let missing = used_by_each.keys().filter(|name| !table.iter().any(|(known, _)| known == name));
    found.extend(missing.map(|name| format!("`{name}` is not in the table")));
    found
}

#[test]
fn crates_use_what_the_architecture_says_and_nothing_else() {
    let found = differences(USES, &used_by_each_crate());
    require_none("the direction of dependencies (ARCHITECTURE.md)", &found);
}

#[test]
fn a_table_that_is_not_tight_or_not_in_order_is_found() {
    let uses = |name: &str, used: &[&str]| {
        let used = used.iter().map(|used| format!("vitrine-{used}"));
        (name.to_owned(), used.chain(["prost".to_owned()]).collect())
    };
    let used_by_each = BTreeMap::from([uses("a", &[]), uses("b", &["a"]), uses("c", &["a", "b"])]);
    let of = |table: &[(&str, &[&str])]| differences(table, &used_by_each);
    assert_eq!(of(&[("a", &[]), ("b", &["a"]), ("c", &["a", "b"])]), Vec::<String>::new());
    assert_eq!(
        of(&[("a", &[]), ("b", &["a"]), ("c", &["a"])]),
        ["`c` uses `b`, which its row lacks"]
    );
    assert_eq!(
        of(&[("a", &[]), ("b", &[]), ("b", &["a"]), ("c", &["b", "a"])]),
        ["`b` uses `a`, which its row lacks"]
    );
    assert_eq!(
        of(&[("x", &[]), ("a", &["x"]), ("c", &["a", "b"]), ("b", &["a"])]),
        [
            "`x` is in the table, but no crate of the workspace",
            "`a` does not use `x` of its row",
            "`c` stands above `b`, which it uses",
        ]
    );
    assert_eq!(of(&[("a", &[]), ("b", &["a"])]), ["`c` is not in the table"]);
}

/// The crates of ours that each of them uses, by a lock file.
fn locked(lock: &str) -> BTreeMap<String, Vec<String>> {
    let quoted = |line: &str| line.split('"').nth(1).map(str::to_owned);
    let packages = lock.split("[[package]]").skip(1).filter_map(|package| {
        let name = quoted(package.lines().find(|line| line.starts_with("name = "))?)?;
        let used = package.lines().filter(|line| line.starts_with(" \""));
        // Where there are several versions of a crate, its own stands behind its name.
        let used = used.filter_map(|line| Some(quoted(line)?.split(' ').next()?.to_owned()));
        Some((ours(&name).to_owned(), used.collect()))
    });
    packages.collect()
}

/// The fuzzers are built rarely, and with the versions that are locked: otherwise it would not be
/// noticed that they no longer compile.
#[test]
fn the_fuzzers_lock_file_knows_what_our_crates_use() {
    let path = root().join("switch/fuzz/Cargo.lock");
    let lock = std::fs::read_to_string(path).expect("the fuzzers have a lock file");
    let mut violations = Vec::new();
    let in_lock = locked(&lock);
    for (name, used) in used_by_each_crate() {
        let Some(known) = in_lock.get(&name) else { continue };
        let unknown = used.iter().filter(|each| !known.contains(each));
        violations.extend(unknown.map(|each| format!("`{name}` uses `{each}`")));
        // `--locked` refuses these too.
        let unused = known.iter().filter(|each| !used.contains(each));
        violations.extend(unused.map(|each| format!("`{name}` no longer uses `{each}`")));
    }
    require_none("cd switch/fuzz && cargo metadata >/dev/null", &violations);
}

#[test]
fn a_lock_file_is_read() {
    let lock = "version = 4\n\n[[package]]\nname = \"vitrine-a\"\nversion = \"0.1.0\"\n\
                dependencies = [\n \"h2 0.4.1\",\n \"vitrine-b\",\n]\n\n[[package]]\nname = \"h2\"\n";
    let used = BTreeMap::from([
        ("a".to_owned(), vec!["h2".to_owned(), "vitrine-b".to_owned()]),
        ("h2".to_owned(), Vec::new()),
    ]);
    assert_eq!(locked(lock), used);
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

/// Crates that reach no operating system run in a web page. `tests/rust.sh` builds the page, and
/// with it all its crates; the rest it names.
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
    let script = std::fs::read_to_string(root().join("vm/build.sh")).expect("vm/build.sh");
    assert!(script.contains("vm/page.sh"), "vm/build.sh builds the page");
    let is_built = |name: &str| {
        let named =
            script.split([' ', ')', '\n']).any(|word| word.strip_prefix("vitrine-") == Some(name));
        named || built.iter().any(|each| each == name)
    };
    let left_out: Vec<String> =
        PURE.iter().filter(|name| !is_built(name)).map(|name| format!("`{name}`")).collect();
    require_none("the core is built for web pages (vm/build.sh)", &left_out);
}
