//! An editor's request about a place of a program, and the answer; both are JSON.
//!
//! ```text
//!   {"ask": ..., "main", "files", "file": "lib/headers.p4", "at": 120}
//!
//!   complete    {"from", "to", "list": [{"name", "kind", "code", "type", "words"}]}
//!   meaning     {"from", "to", "code", "type", "words"}, or null
//!   definition  {"file", "from", "to"}, or null
//!   uses        [{"file", "from", "to"}]
//!   rename      with "name": {"changes": [{"file", "from", "to", "text"}]} or {"refused": why}
//!   format      {"text"} or {"refused": why}
//!   text        {"text"}: the file itself, also one that is part of the compiler
//! ```
//!
//! Places count UTF-16 units from the beginning of their file.

use compiler::{SourceProvider, Span};
use language::{Completion, Meaning, Sources, Study, place};
use serde_json::{Value, json};

use crate::texts::{self, BUILT_IN, Texts};

/// The answer; null where there is none. Never panics, on any request.
pub fn answer(request: &[u8]) -> Value {
    let request: Value = serde_json::from_slice(request).unwrap_or_default();
    answered(&request).unwrap_or_default()
}

fn answered(request: &Value) -> Option<Value> {
    let texts = Texts::in_value(request)?;
    let file = request["file"].as_str()?;
    let text = texts.read(file).ok()?;
    let at = usize::try_from(request["at"].as_u64().unwrap_or(0)).ok()?;
    let offset = place::offset(&text, at) as u32;
    let sources = Sources { provider: &texts, main: &texts.main, options: &texts.options };
    let units = |offset: u32| place::units(&text, offset as usize);
    Some(match request["ask"].as_str()? {
        "complete" => {
            let found = language::complete(&sources, file, offset);
            let list: Vec<Value> = found.list.iter().map(completion).collect();
            json!({"from": units(found.from), "to": units(found.to), "list": list})
        }
        "meaning" => {
            let meaning = Study::of(&sources).meaning(file, offset)?;
            let mut told = explained(&meaning);
            told["from"] = json!(units(meaning.from));
            told["to"] = json!(units(meaning.to));
            told
        }
        "definition" => {
            let study = Study::of(&sources);
            texts::place(study.definition(file, offset)?, study.sources())
        }
        "uses" => {
            let study = Study::of(&sources);
            let uses: Vec<Span> = study.uses(file, offset);
            uses.into_iter().map(|span| texts::place(span, study.sources())).collect()
        }
        "rename" => {
            let is_given = |name: &str| name.starts_with(BUILT_IN);
            match language::rename(&sources, file, offset, request["name"].as_str()?, is_given) {
                Ok(changes) => {
                    let changes = changes.into_iter().map(|change| {
                        let text = texts.read(&change.file).unwrap_or_default();
                        let units = |offset: u32| place::units(&text, offset as usize);
                        json!({
                            "file": change.file, "text": change.text,
                            "from": units(change.from), "to": units(change.to),
                        })
                    });
                    json!({"changes": changes.collect::<Vec<_>>()})
                }
                Err(why) => json!({"refused": why}),
            }
        }
        "format" => match language::format(&text) {
            Ok(text) => json!({"text": text}),
            Err(why) => json!({"refused": why}),
        },
        "text" => json!({"text": text}),
        _ => return None,
    })
}

fn completion(offered: &Completion) -> Value {
    let mut told = explained(&offered.meaning);
    told["name"] = json!(offered.name);
    told["kind"] = json!(offered.kind.map_or("Word".to_owned(), |kind| format!("{kind:?}")));
    told
}

fn explained(meaning: &Meaning) -> Value {
    json!({"code": meaning.code, "type": meaning.ty, "words": meaning.words})
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = include_str!("../../stage/tests/rig/wire.p4");

    fn asked(ask: &str, text: &str, at: usize) -> Value {
        let request =
            json!({"ask": ask, "main": "a.p4", "files": {"a.p4": text}, "file": "a.p4", "at": at});
        answer(request.to_string().as_bytes())
    }

    #[test]
    fn places_count_utf_16_units_in_and_out() {
        // The sign in front is two units long and four bytes.
        let text = format!("/*\u{1f4a1}*/{PROGRAM}");
        let byte = text.find("egress_spec").unwrap();
        let unit = place::units(&text, byte);
        assert_eq!(unit, byte - 2);
        let meaning = asked("meaning", &text, unit);
        assert_eq!(
            (&meaning["from"], &meaning["to"]),
            (&json!(unit), &json!(unit + 11)),
            "{meaning}"
        );
        let declared = asked("definition", &text, unit);
        assert_eq!(declared["file"], "p4include/v1model.p4");
    }

    #[test]
    fn what_belongs_to_the_compiler_is_not_renamed() {
        let at = PROGRAM.find("egress_spec").unwrap();
        let mut request = json!({"ask": "rename", "main": "a.p4", "files": {"a.p4": PROGRAM}});
        request["file"] = json!("a.p4");
        request["at"] = json!(at);
        request["name"] = json!("other");
        let refused = answer(request.to_string().as_bytes());
        assert!(refused["refused"].as_str().unwrap().contains("v1model.p4"), "{refused}");
    }

    #[test]
    fn the_compilers_own_texts_can_be_read_and_asked_about() {
        let mut request = json!({"ask": "text", "main": "a.p4", "files": {"a.p4": PROGRAM}});
        request["file"] = json!("p4include/v1model.p4");
        let text = answer(request.to_string().as_bytes())["text"].as_str().unwrap().to_owned();
        let at = text.find("standard_metadata_t {").unwrap();
        request["ask"] = json!("meaning");
        request["at"] = json!(at);
        let meaning = answer(request.to_string().as_bytes());
        assert_eq!(meaning["from"], json!(at), "{meaning}");
    }

    #[test]
    fn a_question_of_another_form_has_no_answer() {
        for request in ["", "{}", "[]", r#"{"ask": "complete", "main": 1}"#] {
            assert_eq!(answer(request.as_bytes()), Value::Null, "{request}");
        }
        assert_eq!(asked("nothing", PROGRAM, 0), Value::Null);
        assert_eq!(asked("meaning", PROGRAM, 1_000_000), Value::Null);
    }
}
