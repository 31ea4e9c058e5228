//! The engine's answers, in the form of the protocol.

use super::places::{address_of, range, range_of};
use compiler::index::{Kind, Symbol};
use compiler::{Diagnostic, Severity, SourceMap, Span};
use language::{Completion, Meaning, plain};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Where what belongs to the compiler can be read, if anywhere.
pub type GivenAt<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A message of the compiler.
pub fn diagnostic(found: &Diagnostic, sources: &SourceMap) -> Value {
    let title = [found.title.as_str()];
    let label = Some(found.primary.text.as_str()).filter(|text| !text.is_empty());
    let hint = found.hint.as_ref().map(|hint| format!("hint: {hint}"));
    let message: Vec<&str> =
        title.into_iter().chain(label).chain(hint.as_deref()).collect::<Vec<_>>();
    let related = found.related.iter().filter_map(|label| {
        let location = location(label.span, sources, &|_| None)?;
        Some(json!({"location": location, "message": label.text}))
    });
    json!({
        "range": range_of(found.primary.span, sources),
        "severity": match found.severity { Severity::Error => 1, Severity::Warning => 2 },
        "code": found.code,
        "source": "vitrine-p4c",
        "message": message.join("\n"),
        "relatedInformation": related.collect::<Vec<_>>(),
    })
}

/// The change that fixes it, if the compiler knows one.
pub fn quick_fix(found: &Diagnostic, sources: &SourceMap) -> Option<Value> {
    let fix = found.fix.as_ref()?;
    let file = sources.file(fix.span.file)?;
    let old = sources.text(fix.span);
    let new = fix.text.trim_end();
    let title = if old.is_empty() {
        format!("Insert `{new}`")
    } else {
        format!("Replace `{old}` with `{new}`")
    };
    let edit = json!({"range": range_of(fix.span, sources), "newText": fix.text});
    let mut changes = json!({});
    changes[address_of(&plain(&file.name))] = json!([edit]);
    Some(json!({
        "title": title, "kind": "quickfix", "isPreferred": true,
        "diagnostics": [diagnostic(found, sources)],
        "edit": {"changes": changes},
    }))
}

/// A place that an editor can open. Built-in files are where `given_at` says.
pub fn location(span: Span, sources: &SourceMap, given_at: GivenAt<'_>) -> Option<Value> {
    let name = plain(&sources.file(span.file)?.name);
    let path = if name.starts_with('/') { name } else { given_at(&name)? };
    Some(json!({"uri": address_of(&path), "range": range_of(span, sources)}))
}

/// An editor's text about a name.
pub fn hover(meaning: &Meaning, text: &str) -> Value {
    json!({
        "contents": {"kind": "markdown", "value": markdown(meaning)},
        "range": range(text, meaning.from, meaning.to),
    })
}

fn markdown(meaning: &Meaning) -> String {
    let mut parts = Vec::new();
    if !meaning.code.is_empty() {
        parts.push(format!("```p4\n{}\n```", meaning.code));
    }
    if let Some(ty) = &meaning.ty {
        parts.push(format!("Type: `{ty}`"));
    }
    if !meaning.words.is_empty() {
        parts.push(meaning.words.clone());
    }
    parts.join("\n\n")
}

/// One name that an editor offers, for the range that it replaces.
pub fn completion(offered: &Completion, range: &Value) -> Value {
    json!({
        "label": offered.name,
        "kind": offered.kind.map_or(KEYWORD, completion_kind),
        "detail": offered.meaning.ty,
        "documentation": {"kind": "markdown", "value": markdown(&offered.meaning)},
        "textEdit": {"range": range, "newText": offered.name},
    })
}

const KEYWORD: u8 = 14;

fn completion_kind(kind: Kind) -> u8 {
    match kind {
        Kind::Action | Kind::Function => 3,
        Kind::Block => 9,
        Kind::Constant => 21,
        Kind::Enumerator | Kind::Error | Kind::MatchKind => 20,
        Kind::Field => 5,
        Kind::Method => 2,
        Kind::Object | Kind::Parameter | Kind::Variable => 6,
        Kind::State => 24,
        Kind::Table | Kind::Type => 7,
        Kind::ValueSet => 13,
    }
}

/// The declarations of a file, each with those inside it.
pub fn outline(symbols: &[&Symbol], sources: &SourceMap) -> Vec<Value> {
    let shown = symbols.iter().filter(|symbol| {
        !matches!(symbol.kind, Kind::Parameter | Kind::Method) && symbol.declared.is_some()
    });
    let mut shown: Vec<&Symbol> = shown.copied().collect();
    // Outer symbols come before inner ones.
    shown.sort_by_key(|symbol| (symbol.whole.start, std::cmp::Reverse(symbol.whole.end)));
    let mut rest = shown.as_slice();
    let mut list = Vec::new();
    while let Some(one) = nested(&mut rest, sources) {
        list.push(one);
    }
    list
}

/// The first symbol, with all that lie in it.
fn nested(rest: &mut &[&Symbol], sources: &SourceMap) -> Option<Value> {
    let (first, behind) = rest.split_first()?;
    *rest = behind;
    let mut children = Vec::new();
    while rest.first().is_some_and(|next| next.whole.end <= first.whole.end) {
        children.extend(nested(rest, sources));
    }
    Some(json!({
        "name": &*first.name,
        "detail": first.ty,
        "kind": symbol_kind(first.kind),
        "range": range_of(first.whole, sources),
        "selectionRange": first.declared.map(|at| range_of(at, sources)),
        "children": children,
    }))
}

fn symbol_kind(kind: Kind) -> u8 {
    match kind {
        Kind::Action | Kind::Function => 12,
        Kind::Block => 2,
        Kind::Constant => 14,
        Kind::Enumerator | Kind::Error | Kind::MatchKind => 22,
        Kind::Field => 8,
        Kind::Method => 6,
        Kind::Object | Kind::Parameter | Kind::Variable => 13,
        Kind::State => 24,
        Kind::Table => 5,
        Kind::Type => 23,
        Kind::ValueSet => 18,
    }
}

/// Changes of several files.
pub fn workspace_edit(
    changes: &[language::Change],
    text_of: impl Fn(&str) -> Option<String>,
) -> Value {
    let mut by_file: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for change in changes {
        let text = text_of(&change.file).unwrap_or_default();
        let edit = json!({"range": range(&text, change.from, change.to), "newText": change.text});
        by_file.entry(&change.file).or_default().push(edit);
    }
    let mut edits = json!({});
    for (file, list) in by_file {
        edits[address_of(file)] = json!(list);
    }
    json!({"changes": edits})
}
