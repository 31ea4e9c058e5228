//! Replays the fuzzers' findings: the inputs that reach all branches of the code, and those that
//! once broke something. `make fuzz` finds more, `make corpus` keeps them.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use strangers::spelling;

/// Offers every input of a target's files; says which of them broke it.
fn replay(name: &str, offer: fn(&[u8])) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut broken = Vec::new();
    for folder in ["corpus", "broke"] {
        let path = root.join(folder).join(name);
        // Nothing has ever broken most of them.
        let Ok(text) = fs::read_to_string(&path) else {
            assert_ne!(folder, "corpus", "{} is missing: make corpus", path.display());
            continue;
        };
        for (line, input) in spelling::inputs(&text) {
            if catch_unwind(AssertUnwindSafe(|| offer(&input))).is_err() {
                broken.push(format!("{}:{line}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "these inputs break it:\n{}", broken.join("\n"));
}

macro_rules! targets {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            replay(stringify!($name), strangers::$name::offer);
        }
    )*

        /// Every fuzzer's inputs are replayed, and nothing else is kept.
        #[test]
        fn all_that_is_fuzzed_is_replayed() {
            let names = |folder: &str| {
                let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
                // A folder that is not there is one without files.
                let files = fs::read_dir(folder).into_iter().flatten().flatten();
                let stems = files.filter_map(|file| {
                    Some(file.path().file_stem()?.to_string_lossy().into_owned())
                });
                let mut names: Vec<String> = stems.collect();
                names.sort();
                names
            };
            let replayed = [$(stringify!($name)),*];
            assert_eq!(names("../../fuzz/fuzz_targets"), replayed);
            assert_eq!(names("corpus"), replayed);
            assert!(names("broke").iter().all(|name| replayed.contains(&name.as_str())));
        }
    };
}

targets! { json messages p4info packets source stf super_packets thrift world }
