//! [`Server`]: a message of the editor in, messages to it out.

use super::answers;
use super::places::{address_of, offset, path_of, range};
use super::programs::Programs;
use crate::files::{BUILT_IN, built_in_on_disk};
use language::{Study, complete, format, plain, rename};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

// The protocol's codes for wrong requests.
const PARSE_ERROR: i32 = -32700;
const METHOD_NOT_FOUND: i32 = -32601;
const REQUEST_FAILED: i32 = -32803;

/// The result of a message.
#[derive(Debug, Default)]
pub struct Reply {
    /// For the editor, in this order.
    pub messages: Vec<Value>,
    /// The editor wants the process to end.
    pub is_over: bool,
}

/// Why there is no answer: one of the codes, and a sentence.
type Refused = (i32, String);

/// See the top of the file.
#[derive(Debug, Default)]
pub struct Server {
    programs: Programs,
    /// The files whose last marks in the editor were not empty.
    marked: BTreeSet<String>,
    was_shut_down: bool,
}

impl Server {
    /// One that no editor has spoken to yet.
    pub fn new(programs: Programs) -> Server {
        Server { programs, ..Server::default() }
    }

    /// Whether the editor has said that it is going.
    pub fn was_shut_down(&self) -> bool {
        self.was_shut_down
    }

    /// Answers a message; what is none is refused.
    pub fn handle(&mut self, message: &Value) -> Reply {
        let method = message["method"].as_str().unwrap_or_default();
        let parameters = &message["params"];
        let Some(id) = message.get("id").filter(|id| !id.is_null()) else {
            if !message.is_object() {
                let error = json!({"code": PARSE_ERROR, "message": "this is no message"});
                return Reply {
                    messages: vec![json!({"jsonrpc": "2.0", "id": null, "error": error})],
                    is_over: false,
                };
            }
            let messages = self.notice(method, parameters);
            return Reply { messages, is_over: method == "exit" };
        };
        // The editor's answer to no request.
        if method.is_empty() {
            return Reply::default();
        }
        let answer = match self.answer(method, parameters) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, why)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}})
            }
        };
        Reply { messages: vec![answer], is_over: false }
    }

    /// An editor's notification, which has no answer.
    fn notice(&mut self, method: &str, parameters: &Value) -> Vec<Value> {
        let document = &parameters["textDocument"];
        let path = path_of(document["uri"].as_str().unwrap_or_default());
        match method {
            "textDocument/didOpen" => {
                self.programs.change(&path, text(&document["text"]));
            }
            "textDocument/didChange" => {
                // Always the whole text, as announced; of several the last one.
                let changes = parameters["contentChanges"].as_array();
                let Some(last) = changes.and_then(|changes| changes.last()) else {
                    return Vec::new();
                };
                self.programs.change(&path, text(&last["text"]));
            }
            "textDocument/didClose" => self.programs.close(&path),
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => self.programs.forget(),
            _ => return Vec::new(),
        }
        self.diagnostics()
    }

    /// The compiler's diagnostics of all programs with an open file.
    fn diagnostics(&mut self) -> Vec<Value> {
        let mains: BTreeSet<String> =
            self.programs.open_paths().map(|path| self.programs.owner(path)).collect();
        let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for main in mains {
            let study = self.programs.study_of(&main);
            for diagnostic in study.diagnostics() {
                let file = study.sources().file(diagnostic.primary.span.file);
                let path = file.map_or_else(|| main.clone(), |file| plain(&file.name));
                let told = answers::diagnostic(diagnostic, study.sources());
                let list = found.entry(path).or_default();
                // Two programs may include the same file.
                if !list.contains(&told) {
                    list.push(told);
                }
            }
        }
        found.retain(|path, _| !path.starts_with(BUILT_IN));
        let marked: BTreeSet<String> = found.keys().cloned().collect();
        let clean = self.marked.difference(&marked).map(|path| (path.clone(), Vec::new()));
        let told: Vec<(String, Vec<Value>)> = clean.chain(found).collect();
        self.marked = marked;
        let publish = |(path, list): (String, Vec<Value>)| {
            json!({
                "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics",
                "params": {"uri": address_of(&path), "diagnostics": list},
            })
        };
        told.into_iter().map(publish).collect()
    }

    /// An editor's request.
    fn answer(&mut self, method: &str, parameters: &Value) -> Result<Value, Refused> {
        match method {
            "initialize" => return Ok(self.initialize(parameters)),
            "shutdown" => {
                self.was_shut_down = true;
                return Ok(Value::Null);
            }
            _ => {}
        }
        let path = path_of(parameters["textDocument"]["uri"].as_str().unwrap_or_default());
        let Some(text) = self.programs.text(&path) else {
            let why = std::format!("{method}: there is no text `{path}`");
            return Err((METHOD_NOT_FOUND, why));
        };
        let at = offset(&text, &parameters["position"]);
        let study = || self.programs.study(&path);
        Ok(match method {
            "textDocument/completion" => self.completion(&path, &text, at),
            "textDocument/hover" => {
                let meaning = study().meaning(&path, at);
                meaning.map_or(Value::Null, |meaning| answers::hover(&meaning, &text))
            }
            "textDocument/definition" => {
                let study = study();
                let declared = study.definition(&path, at);
                let location = |span| answers::location(span, study.sources(), &built_in_on_disk);
                declared.and_then(location).unwrap_or_default()
            }
            "textDocument/references" => {
                let study = study();
                let uses = study.uses(&path, at).into_iter();
                let location = |span| answers::location(span, study.sources(), &built_in_on_disk);
                json!(uses.filter_map(location).collect::<Vec<_>>())
            }
            "textDocument/documentHighlight" => highlights(&study(), &path, &text, at),
            "textDocument/documentSymbol" => {
                let study = study();
                json!(answers::outline(&study.outline(&path), study.sources()))
            }
            "textDocument/prepareRename" => {
                let meaning = study().definition(&path, at).and(study().meaning(&path, at));
                meaning.map_or(Value::Null, |meaning| range(&text, meaning.from, meaning.to))
            }
            "textDocument/rename" => {
                let name = parameters["newName"].as_str().unwrap_or_default();
                let is_given = |file: &str| file.starts_with(BUILT_IN);
                let changes =
                    self.programs.sources(&path, |all| rename(all, &path, at, name, is_given));
                let changes = changes.map_err(|why| (REQUEST_FAILED, why))?;
                answers::workspace_edit(&changes, |file| self.programs.text(file))
            }
            "textDocument/formatting" => {
                let new = format(&text).map_err(|why| (REQUEST_FAILED, why))?;
                let whole = range(&text, 0, text.len() as u32);
                if new == text { json!([]) } else { json!([{"range": whole, "newText": new}]) }
            }
            "textDocument/codeAction" => quick_fixes(&study(), &path, &text, &parameters["range"]),
            _ => return Err((METHOD_NOT_FOUND, std::format!("there is no method {method}"))),
        })
    }

    fn initialize(&mut self, parameters: &Value) -> Value {
        let folders =
            parameters["workspaceFolders"].as_array().map(Vec::as_slice).unwrap_or_default();
        let named = folders.iter().map(|folder| &folder["uri"]).chain([&parameters["rootUri"]]);
        let mut folders: Vec<PathBuf> =
            named.filter_map(Value::as_str).map(|uri| PathBuf::from(path_of(uri))).collect();
        folders.dedup();
        self.programs.set_folders(folders);
        json!({
            "serverInfo": {"name": "vitrine-p4c", "version": env!("CARGO_PKG_VERSION")},
            "capabilities": {
                "positionEncoding": "utf-16",
                // Opening and closing are notified; a change is the whole text.
                "textDocumentSync": {"openClose": true, "change": 1, "save": true},
                "completionProvider": {"triggerCharacters": ["."]},
                "hoverProvider": true,
                "definitionProvider": true,
                "referencesProvider": true,
                "documentHighlightProvider": true,
                "documentSymbolProvider": true,
                "documentFormattingProvider": true,
                "codeActionProvider": {"codeActionKinds": ["quickfix"]},
                "renameProvider": {"prepareProvider": true},
            },
        })
    }

    fn completion(&self, path: &str, text: &str, at: u32) -> Value {
        let found = self.programs.sources(path, |all| complete(all, path, at));
        let range = range(text, found.from, found.to);
        let items: Vec<Value> =
            found.list.iter().map(|offered| answers::completion(offered, &range)).collect();
        json!({"isIncomplete": false, "items": items})
    }
}

/// Where the thing is named in this text.
fn highlights(study: &Study, path: &str, text: &str, at: u32) -> Value {
    let file = study.file(path);
    let uses = study.uses(path, at).into_iter().filter(|span| Some(span.file) == file);
    json!(uses.map(|span| json!({"range": range(text, span.start, span.end)})).collect::<Vec<_>>())
}

/// The compiler's fixes between two places of a text.
fn quick_fixes(study: &Study, path: &str, text: &str, asked: &Value) -> Value {
    let (from, to) = (offset(text, &asked["start"]), offset(text, &asked["end"]));
    let file = study.file(path);
    let touches =
        |span: compiler::Span| Some(span.file) == file && span.start <= to && from <= span.end;
    let found = study.diagnostics().iter().filter(|each| touches(each.primary.span));
    json!(found.filter_map(|each| answers::quick_fix(each, study.sources())).collect::<Vec<_>>())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
