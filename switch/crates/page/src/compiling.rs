//! P4 texts to what a router loads, and to what an editor underlines.
//!
//! Both ends are JSON, because the other side of them is a page:
//!
//! ```text
//!   {"main": "router.p4", "files": {"router.p4": "...", "lib/headers.p4": "..."}}
//!   {"files": ["router.p4", ...], "diagnostics": [{"severity", "code", "title", "label", "hint",
//!    "fix": {"file", "from", "to", "text"}, "file", "line", "column", "from", "to",
//!    "related": [{"file", "from", "to", "label"}]}]}
//! ```
//!
//! `from` and `to` count UTF-16 units from the beginning of the file, as JavaScript's strings do.

use compiler::{Diagnostic, Label, Options, Severity, SourceMap};
use language::plain;
use messages::p4::config::v1::P4Info;
use messages::p4::v1::ForwardingPipelineConfig;
use messages::p4::v1::forwarding_pipeline_config::Cookie;
use prost::Message;
use serde_json::{Value, json};

use crate::texts::{self, Texts};

/// The result of a program.
#[derive(Debug)]
pub struct Compiled {
    /// Which texts were read, and what is to be said about them.
    pub said: Value,
    /// A `p4.v1.ForwardingPipelineConfig`; none if there are errors.
    pub config: Option<Vec<u8>>,
}

/// Compiles what a request of the form above holds. Never panics, whatever is in it.
pub fn compile(request: &[u8]) -> Compiled {
    let Some(texts) = Texts::of(request) else {
        let said = json!({"files": [], "diagnostics": [{
            "severity": "error", "code": "request", "title": "there is no program to compile",
        }]});
        return Compiled { said, config: None };
    };
    let options = Options { preprocessor: texts.options.clone(), ..Options::default() };
    let output = compiler::compile(&texts, &texts.main, &options);
    let read = output.sources.files().iter().map(|file| plain(&file.name)).collect::<Vec<_>>();
    let mut diagnostics: Vec<Value> =
        output.diagnostics.iter().map(|each| told(each, &output.sources)).collect();
    let config = match (output.program, output.p4info) {
        (Some(program), Some(p4info)) => Some(config_of(&program, &p4info)),
        (None, _) if has_no_error(&output.diagnostics) => {
            diagnostics.push(json!({
                "severity": "error", "code": "package", "file": texts.main, "from": 0, "to": 0,
                "title": "the program makes no switch: it has no package `main`",
            }));
            None
        }
        _ => None,
    };
    Compiled { said: json!({"files": read, "diagnostics": diagnostics}), config }
}

fn has_no_error(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().all(|each| each.severity != Severity::Error)
}

fn config_of(program: &bmv2::Program, p4info: &p4info::P4Info) -> Vec<u8> {
    // The same message by two crates: one knows its rules, the other how P4Runtime carries it.
    let p4info = P4Info::decode(p4info::Message::to_bytes(p4info).as_slice()).unwrap_or_default();
    let device_config = bmv2::write(program).into_bytes();
    let config = ForwardingPipelineConfig {
        p4info: Some(p4info),
        p4_device_config: device_config.into(),
        cookie: None::<Cookie>,
    };
    config.encode_to_vec()
}

fn told(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let here = sources.location(diagnostic.primary.span);
    let mut told = place(&diagnostic.primary, sources);
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    told["severity"] = json!(severity);
    told["code"] = json!(diagnostic.code);
    told["title"] = json!(diagnostic.title);
    told["hint"] = json!(diagnostic.hint);
    told["fix"] = diagnostic.fix.as_ref().map_or(Value::Null, |fix| {
        let mut change = texts::place(fix.span, sources);
        change["text"] = json!(fix.text);
        change
    });
    told["line"] = json!(here.line);
    told["column"] = json!(here.column);
    let related = diagnostic.related.iter().map(|label| place(label, sources));
    told["related"] = related.collect();
    told
}

/// A place as an editor names it, and what is there.
fn place(label: &Label, sources: &SourceMap) -> Value {
    let mut told = texts::place(label.span, sources);
    told["label"] = json!(label.text);
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(text: &str) -> Compiled {
        compile(json!({"main": "a.p4", "files": {"a.p4": text}}).to_string().as_bytes())
    }

    const WHOLE: &str = include_str!("../../stage/tests/rig/wire.p4");

    #[test]
    fn a_program_becomes_what_a_router_loads() {
        let Compiled { said, config } = compiled(WHOLE);
        assert_eq!(said["diagnostics"], json!([]));
        assert_eq!(said["files"][0], "a.p4");
        let config = ForwardingPipelineConfig::decode(config.unwrap().as_slice()).unwrap();
        assert!(config.p4info.is_some());
        assert!(config.p4_device_config.starts_with(b"{"));
    }

    #[test]
    fn places_count_as_javascript_does() {
        let Compiled { said, config } = compiled("/*\u{1f4a1}*/ nothing");
        assert!(config.is_none());
        let first = &said["diagnostics"][0];
        // A name is missing at the end. "/*" is 2, the sign 2, "*/" 2, the space 1, the word 7 long: as
        // bytes the sign would be 4.
        assert_eq!((&first["from"], &first["to"]), (&json!(14), &json!(14)), "{first}");
        assert_eq!((&first["file"], &first["severity"]), (&json!("a.p4"), &json!("error")));
    }

    #[test]
    fn an_include_is_found_from_the_file_that_names_it() {
        let files = json!({
            "programs/a.p4": "#include \"../lib/./b.p4\"",
            "lib/b.p4": format!("{WHOLE}\n#include \"c.p4\""),
            "lib/c.p4": "oops",
        });
        let request = json!({"main": "programs/a.p4", "files": files}).to_string();
        let Compiled { said, .. } = compile(request.as_bytes());
        assert_eq!(said["files"][1], "lib/b.p4");
        assert_eq!(said["diagnostics"][0]["file"], "lib/c.p4", "{said}");
    }

    #[test]
    fn a_program_without_a_switch_is_told_so() {
        let Compiled { said, config } = compiled("#include <core.p4>\n");
        assert!(config.is_none());
        assert_eq!(said["diagnostics"][0]["code"], "package");
    }

    #[test]
    fn a_request_of_another_form_is_told_so() {
        for request in [&b"{}"[..], b"", b"[1]", b"{\"main\": 1}"] {
            assert_eq!(compile(request).said["diagnostics"][0]["code"], "request");
        }
    }
}
