//! Rules about what is not Rust: P4, scripts, the Makefile, documents.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::{fs, io};

use tidy::{files, require_none, root};

#[test]
fn each_header_type_is_defined_once_and_in_the_library() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files("p4src/", ".p4").into_iter().chain(files("labs/", ".p4")) {
        // Starters are generated from solutions: the same file with bodies taken out.
        if file.path.starts_with("p4src/include/") || file.path.contains("/start/") {
            continue;
        }
        for line in file.text.lines().filter_map(|line| line.trim_start().strip_prefix("header ")) {
            let name = line.split([' ', '{']).next().unwrap_or_default().to_owned();
            places.entry(name).or_default().push(file.path.clone());
        }
    }
    assert!(!places.is_empty(), "the search found no header at all");
    let wrong = |(name, paths): (&String, &Vec<String>)| {
        let good = paths.len() == 1 && paths[0].starts_with("p4src/lib/");
        (!good).then(|| format!("{name}: {}", paths.join(", ")))
    };
    let violations: Vec<String> = places.iter().filter_map(wrong).collect();
    require_none("a header is defined once, under p4src/lib", &violations);
}

/// Waiting for time to pass is guessing; `wait_until(condition, deadline)` is knowing. The one
/// helper that must pause between two looks lives in a file of its own, and its test has a clock that
/// moves when it pauses.
#[test]
fn scripts_wait_for_conditions_and_never_just_sleep() {
    // The last one holds submissions that do so, to be ended.
    const WAITING_HELPERS: [&str; 3] =
        ["topo/wait.py", "tests/labs/test_live_datagrams.py", "tests/course/test_limits.py"];
    let mut violations = Vec::new();
    let scripts = [("", ".py"), ("", ".sh"), ("", "Makefile"), (".ci/", "")];
    for file in scripts.iter().flat_map(|(folder, suffix)| files(folder, suffix)) {
        if WAITING_HELPERS.contains(&file.path.as_str()) {
            continue;
        }
        for (number, line) in (1..).zip(file.text.lines()) {
            let code = line.split('#').next().unwrap_or_default();
            let word = |c: char| !(c.is_alphanumeric() || c == '_');
            if code.split(word).any(|token| token == "sleep") {
                violations.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    require_none("no script sleeps; it waits for a condition with a deadline", &violations);
}

/// Processes are ended by their id: a name may be another user's.
#[test]
fn scripts_end_processes_by_id_never_by_name() {
    let mut violations = Vec::new();
    let scripts = [("", ".py"), ("", ".sh"), ("", "Makefile"), (".ci/", "")];
    for file in scripts.iter().flat_map(|(folder, suffix)| files(folder, suffix)) {
        for (number, line) in (1..).zip(file.text.lines()) {
            if line.contains("pkill") || line.contains("killall") {
                violations.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    require_none("processes are ended by id", &violations);
}

#[test]
fn the_makefile_explains_every_target() {
    let makefile = files("Makefile", "Makefile").pop().expect("there is a Makefile");
    let silent = |line: &str| {
        let (target, _) = line.split_once(':')?;
        let named = target.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        let rule = !target.is_empty() && named && !line.contains(":=") && !line.contains("::=");
        (rule && !line.contains("## ")).then(|| target.to_owned())
    };
    let violations: Vec<String> = makefile.text.lines().filter_map(silent).collect();
    require_none("every target has a `## help` text", &violations);
}

#[test]
fn documents_link_only_to_files_that_exist() {
    let root = root();
    let mut violations = Vec::new();
    for file in files("", ".md") {
        let folder = root.join(&file.path);
        let folder = folder.parent().expect("a file is in a folder");
        for (number, line) in (1..).zip(file.text.lines()) {
            for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                let path = target.split('#').next().unwrap_or_default();
                let local =
                    !path.is_empty() && !path.contains("://") && !path.starts_with("mailto:");
                if local && !folder.join(path).exists() {
                    violations.push(format!("{}:{number}: {target}", file.path));
                }
            }
        }
    }
    require_none("links in documents lead somewhere", &violations);
}

/// Lab texts cite code by anchors: `// DOC: name` in the source, `DOC: name` in the text.
#[test]
fn every_cited_anchor_exists() {
    let anchors: Vec<String> = ["switch/", "p4src/", "controller/"]
        .iter()
        .flat_map(|folder| files(folder, ""))
        .flat_map(|file| {
            let named =
                |line: &str| line.split_once("// DOC: ").map(|(_, name)| name.trim().to_owned());
            file.text.lines().filter_map(named).collect::<Vec<_>>()
        })
        .collect();
    let mut violations = Vec::new();
    for file in files("labs/", ".md").into_iter().chain(files("docs/", ".md")) {
        for (number, line) in (1..).zip(file.text.lines()) {
            let Some((_, cited)) = line.split_once("`DOC: ") else { continue };
            let cited = cited.split('`').next().unwrap_or_default();
            if !anchors.iter().any(|anchor| anchor == cited) {
                violations.push(format!("{}:{number}: {cited}", file.path));
            }
        }
    }
    require_none("an anchor that a text cites is in the code", &violations);
}

/// A build script would make the build depend on what is exported and installed.
#[test]
fn no_crate_has_a_build_script() {
    let scripts = files("switch/", "build.rs");
    let named = files("switch/", "Cargo.toml").into_iter().filter(|file| {
        file.text.lines().any(|line| line.starts_with("build = ") || line == "[build-dependencies]")
    });
    let violations: Vec<String> = scripts.into_iter().chain(named).map(|file| file.path).collect();
    require_none("a build depends on the sources alone", &violations);
}

/// The command of CI, found by starting it with a `make` that only writes down how it is called.
#[test]
fn ci_runs_make_test_in_the_root_and_passes_its_status_on() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("make-of-ci");
    fs::create_dir_all(&folder).expect("a folder for the other make");
    let (make, called) = (folder.join("make"), folder.join("called"));
    // In the folder that -C names, as make would work there.
    let script = "#!/bin/sh\nwhile [ $# -gt 0 ]; do case $1 in -C) cd \"$2\"; shift ;; -*) ;; \
                  *) echo \"$1 in $(pwd -P)\" >>\"$CALLED\" ;; esac; shift; done\nexit 7\n";
    fs::write(&make, script).expect("the other make is written");
    fs::set_permissions(&make, fs::Permissions::from_mode(0o755)).expect("it can be run");
    fs::remove_file(&called).or_else(gone).expect("nothing was called yet");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let status = Command::new(root().join(".ci/run"))
        .current_dir("/")
        .env("PATH", path)
        .env("CALLED", &called)
        .status()
        .expect(".ci/run starts");
    assert_eq!(status.code(), Some(7), "the status of make is that of CI");
    let calls = fs::read_to_string(&called).expect("make was called");
    assert_eq!(calls, format!("test in {}\n", root().display()));
}

fn gone(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
