//! Every script of tests/timing at the repository root.

use crate::script;

use std::fs;
use std::path::Path;

use script::Script;

#[test]
fn every_timing_script_comes_out_to_the_picosecond() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/timing");
    let entries = fs::read_dir(&folder).expect("tests/timing is at the repository root");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "timing"));
    files.sort();
    assert!(files.len() >= 10, "only {} scripts in {}", files.len(), folder.display());
    let mut failures = String::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).expect("a script is text");
        if let Err(error) = Script::read(&text).and_then(|script| script.run()) {
            failures += &format!("{name}: {error}\n");
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
