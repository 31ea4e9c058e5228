//! Any text through the whole compiler: no panic, no hang, no unbounded memory; and a program that
//! the compiler takes has output.

use compiler::{Options, Severity, SourceError, SourceProvider, compile};

/// The text under test, with the includes every program knows.
struct OneText<'a>(&'a str);

impl SourceProvider for OneText<'_> {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        match path {
            "main.p4" => Ok(self.0.into()),
            "p4include/core.p4" => Ok(include_str!("../../../../p4src/include/core.p4").into()),
            "p4include/v1model.p4" => {
                Ok(include_str!("../../../../p4src/include/v1model.p4").into())
            }
            "p4include/vitrine.p4" => {
                Ok(include_str!("../../../../p4src/include/vitrine.p4").into())
            }
            _ => Err(SourceError::NotFound),
        }
    }
}

/// Offers these bytes.
pub fn offer(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut options = Options::default();
    options.preprocessor.include_directories.push("p4include".into());
    let output = compile(&OneText(&text), "main.p4", &options);
    let has_errors = output.diagnostics.iter().any(|found| found.severity == Severity::Error);
    assert!(!(has_errors && output.program.is_some()));
}
