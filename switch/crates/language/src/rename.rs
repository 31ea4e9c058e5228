//! The changes that give a thing another name, everywhere it is named.

use crate::study::{Sources, Study, plain};
use compiler::{Severity, SourceError, SourceProvider, Span};
use syntax::token::{TokenKind, is_reserved};
use syntax::{Diagnostics, FileId, lexer};

/// One change of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its name.
    pub file: String,
    /// The bytes that are replaced.
    pub from: u32,
    /// And up to there.
    pub to: u32,
    /// By what.
    pub text: String,
}

/// The changes that rename the thing at a place, or why that is not possible. `is_given(file)`:
/// that file cannot be changed.
pub fn rename(
    sources: &Sources<'_>,
    file: &str,
    offset: u32,
    name: &str,
    is_given: impl Fn(&str) -> bool,
) -> Result<Vec<Change>, String> {
    check_name(name)?;
    let study = Study::of(sources);
    let (_, symbol) =
        study.name_at(file, offset).ok_or("there is no name here that the program declares")?;
    let (old, declared) = (symbol.name.clone(), symbol.declared);
    let declared = declared.ok_or_else(|| format!("`{old}` is part of the language"))?;
    let uses: Vec<Span> = study.index.uses(declared).collect();
    let mut changes = Vec::with_capacity(uses.len());
    for span in &uses {
        let place = study.sources.location(*span);
        let text = study.sources.file(span.file).ok_or("a text is missing")?;
        if is_given(&text.name) {
            return Err(format!(
                "`{old}` is declared in {}, which belongs to the compiler",
                text.name
            ));
        }
        if study.sources.text(*span) != &*old {
            return Err(format!(
                "`{old}` comes out of a macro at {}:{}: rename it there by hand",
                place.file, place.line
            ));
        }
        let (file, text) = (plain(&text.name), name.to_owned());
        changes.push(Change { file, from: span.start, to: span.end, text });
    }
    check_meaning(sources, &study, &uses, declared, &changes, name)?;
    Ok(changes)
}

fn check_name(name: &str) -> Result<(), String> {
    let tokens = lexer::tokenize(FileId(0), name, &mut Diagnostics::default());
    let is_word =
        matches!(tokens.as_slice(), [only] if only.kind == TokenKind::Word && *only.text == *name);
    if !is_word {
        return Err(format!("`{name}` is no name: letters, digits and _, and no digit first"));
    }
    if is_reserved(name) {
        return Err(format!("`{name}` is a keyword of P4"));
    }
    Ok(())
}

/// Reads the changed program: everything that was named must be named still, and nothing else.
fn check_meaning(
    sources: &Sources<'_>,
    before: &Study,
    uses: &[Span],
    declared: Span,
    changes: &[Change],
    name: &str,
) -> Result<(), String> {
    let provider = |path: &str| -> Result<String, SourceError> {
        Ok(applied(&sources.provider.read(path)?, &plain(path), changes))
    };
    let after = Study::of(&Sources { provider: &provider as &dyn SourceProvider, ..*sources });
    if after.error_count() > before.error_count() {
        let error = after.diagnostics().iter().find(|each| each.severity == Severity::Error);
        let why = error.map_or(String::new(), |error| {
            let place = after.sources.location(error.primary.span);
            format!(": {}:{}: {}", place.file, place.line, error.title)
        });
        return Err(format!("`{name}` would be a mistake{why}"));
    }
    let old_length = declared.end - declared.start;
    let earlier = uses.iter().filter(|at| at.file == declared.file && at.start < declared.start);
    let earlier = earlier.count() as u32;
    let moved = declared.start - earlier * old_length + earlier * name.len() as u32;
    let count = match after.index.at(declared.file, moved) {
        Some((_, symbol)) => symbol.declared.map_or(0, |at| after.index.uses(at).count()),
        None => 0,
    };
    if count != uses.len() {
        return Err(format!("`{name}` means something else in a place where this is named"));
    }
    Ok(())
}

/// The text of a file with the changes that concern it, which are in the order of the text.
fn applied(text: &str, file: &str, changes: &[Change]) -> String {
    let mut changed = String::with_capacity(text.len());
    let mut at = 0;
    for change in changes.iter().filter(|change| change.file == file) {
        changed.push_str(text.get(at..change.from as usize).unwrap_or(""));
        changed.push_str(&change.text);
        at = change.to as usize;
    }
    changed.push_str(text.get(at..).unwrap_or(""));
    changed
}
