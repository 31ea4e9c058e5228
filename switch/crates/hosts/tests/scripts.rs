//! Runs every packet script of the folder beside this file; `script/mod.rs` explains them.

use crate::script;

use std::fs;
use std::path::Path;

#[test]
fn every_script_plays_as_it_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    files.sort();
    let mut wrong = String::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("it can be read");
        assert!(text.starts_with("# "), "{}: say first what it shows", file.display());
        if let Err(what) = script::run(&text) {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            wrong += &format!("\n{name}: {}\n{what}\n", text.lines().next().unwrap_or(""));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(files.len() >= 24, "dozens of them: {}", files.len());
}
