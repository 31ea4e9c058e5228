//! The texts of a program as a page hands them over, `{"main": NAME, "files": {NAME: TEXT}}`, and places
//! in them.

use std::collections::BTreeMap;

use compiler::{PreprocessorOptions, SourceError, SourceMap, SourceProvider, Span};
use language::plain;
use serde_json::{Value, json};

/// The folder of the includes that belong to the language and the architecture.
pub const BUILT_IN: &str = "p4include";
const BUILT_IN_FILES: [(&str, &str); 7] = [
    ("p4include/core.p4", include_str!("../../../../p4src/include/core.p4")),
    ("p4include/v1model.p4", include_str!("../../../../p4src/include/v1model.p4")),
    ("p4include/tna.p4", include_str!("../../../../p4src/include/tna.p4")),
    ("p4include/t2na.p4", include_str!("../../../../p4src/include/t2na.p4")),
    ("p4include/psa.p4", include_str!("../../../../p4src/include/psa.p4")),
    ("p4include/bmv2/psa.p4", include_str!("../../../../p4src/include/bmv2/psa.p4")),
    ("p4include/vitrine.p4", include_str!("../../../../p4src/include/vitrine.p4")),
];

/// See the top of the file.
pub struct Texts {
    pub main: String,
    pub options: PreprocessorOptions,
    files: BTreeMap<String, String>,
}

impl Texts {
    /// Those of a request; none where it has another form.
    pub fn of(request: &[u8]) -> Option<Texts> {
        Texts::in_value(&serde_json::from_slice(request).ok()?)
    }

    /// The same of a request that was read.
    pub fn in_value(request: &Value) -> Option<Texts> {
        let main = request["main"].as_str()?.to_owned();
        let text =
            |(name, text): (&String, &Value)| Some((name.clone(), text.as_str()?.to_owned()));
        let files = request["files"].as_object()?.iter().filter_map(text).collect();
        let options = PreprocessorOptions {
            include_directories: vec![BUILT_IN.to_owned()],
            ..PreprocessorOptions::default()
        };
        Some(Texts { main, options, files })
    }
}

impl SourceProvider for Texts {
    fn read(&self, path: &str) -> Result<String, SourceError> {
        let path = plain(path);
        let built_in = BUILT_IN_FILES.iter().find(|(name, _)| *name == path);
        let text = self.files.get(&path).map(String::as_str).or(built_in.map(|(_, text)| *text));
        text.map(str::to_owned).ok_or(SourceError::NotFound)
    }
}

/// A place as an editor names it.
pub fn place(span: Span, sources: &SourceMap) -> Value {
    let file = sources.file(span.file);
    let text = file.map_or("", |file| &file.text);
    let units = |offset: u32| language::place::units(text, offset as usize);
    json!({
        "file": file.map_or(String::new(), |file| plain(&file.name)),
        "from": units(span.start), "to": units(span.end),
    })
}
