//! The messages of the compiler, one file a case: tests/diagnostics/NAME.p4 is a program that ends
//! in a comment with everything the compiler says about it.
//!
//! `BLESS=1 cargo test -p vitrine-p4c` writes the comments anew; read the difference before you
//! commit it: it is what users will see.

use compiler::{Options, SourceError, SourceProvider, compile};
use p4c::files::Files;
use p4c::render::render_all;
use std::fs;
use std::path::{Path, PathBuf};

/// Starts the comment that holds the messages.
const EXPECTED: &str = "/* expected\n";

/// One program by its short name; everything else from where it really is.
struct Case<'a> {
    name: &'a str,
    text: &'a str,
}

impl SourceProvider for Case<'_> {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        if path == self.name { Ok(self.text.to_string()) } else { Files.read(path) }
    }
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/diagnostics")
}

/// The compiler's messages about a program.
fn messages(name: &str, text: &str) -> String {
    let mut options = Options::default();
    options.preprocessor.include_directories.push(p4c::files::BUILT_IN.into());
    let output = compile(&Case { name, text }, name, &options);
    render_all(&output.diagnostics, &output.sources)
}

#[test]
fn every_program_gets_exactly_the_messages_at_its_end() {
    let is_blessing = std::env::var_os("BLESS").is_some();
    let mut paths: Vec<PathBuf> = fs::read_dir(directory())
        .expect("tests/diagnostics exists")
        .map(|entry| entry.expect("its entries can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "p4"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 24, "only {} cases were found", paths.len());
    let mut different = Vec::new();
    for path in paths {
        let whole = fs::read_to_string(&path).expect("a case can be read");
        let (program, expected) = match whole.split_once(EXPECTED) {
            Some((program, comment)) => (program, comment.trim_end().trim_end_matches("*/")),
            None => (whole.as_str(), ""),
        };
        let program = format!("{}\n", program.trim_end_matches('\n'));
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let found = messages(&name, &program);
        if found == expected {
            continue;
        }
        if is_blessing {
            fs::write(&path, format!("{program}{}{found}*/\n", EXPECTED.trim_start_matches('\n')))
                .expect("a case can be written");
        } else {
            different.push(format!("{name}: expected\n{expected}found\n{found}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
