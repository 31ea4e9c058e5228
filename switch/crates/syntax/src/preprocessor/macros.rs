//! Macros and their expansion.
//!
//! The algorithm is D. Prosser's of the C standard: every token remembers the macros it came out
//! of (its hidden names) and is not expanded by them again, so expansion ends. It may still grow
//! exponentially, therefore there is a budget.

use super::spell;
use crate::lexer::tokenize;
use crate::token::{HiddenNames, Token, TokenKind};
use crate::{Diagnostic, Diagnostics, FileId, SourceMap};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(super) struct Macro {
    /// `None` for one without parentheses.
    pub parameters: Option<Parameters>,
    /// Its replacement.
    pub body: Vec<Token>,
}

/// The arguments in the parentheses of a macro.
#[derive(Clone, Debug)]
pub(super) struct Parameters {
    pub names: Vec<Rc<str>>,
    /// The last one takes all arguments that are left, with the commas between them.
    pub is_variadic: bool,
}

/// Known to `#ifdef`, and answered in conditions.
pub(super) const HAS_INCLUDE: &str = "__has_include";

/// The macros defined at this point of the text.
pub(super) struct Macros {
    table: BTreeMap<Rc<str>, Rc<Macro>>,
    /// Steps left for all expansions of the program: a directive ends one, and costs few bytes.
    steps_left: Cell<usize>,
}

/// The limit for all expansions of a program. A token read is one step.
const STEP_COUNT_MAX: usize = 4_000_000;
/// Text that `#` and `##` put together costs a step for this many bytes.
const TEXT_BYTES_PER_STEP: usize = 16;
/// Looking up a token of a macro's text among this many parameters costs a step.
const PARAMETERS_PER_STEP: usize = 16;

/// The state of an expansion.
struct Expansion<'a> {
    /// Tokens still to be read, the next one last.
    input: Vec<Token>,
    /// Tokens that may still be made.
    budget: usize,
    /// `defined X` is answered before X is expanded, wherever it comes from.
    answers_defined: bool,
    sources: &'a SourceMap,
    diagnostics: &'a mut Diagnostics,
}

/// Arguments of arguments of arguments: nested calls are expanded by recursion.
const ARGUMENT_DEPTH_MAX: usize = 64;

/// Macros whose text is a macro whose text is a macro ...: what is deeper is left as it is.
const MACRO_DEPTH_MAX: u32 = 256;

impl Default for Macros {
    fn default() -> Macros {
        Macros { table: BTreeMap::new(), steps_left: Cell::new(STEP_COUNT_MAX) }
    }
}

impl Expansion<'_> {
    /// Takes steps off the budget; one that is used up ends the expansion.
    fn charge(&mut self, steps: usize) {
        self.budget = self.budget.saturating_sub(steps);
    }

    /// Does every `a ## b`, as far as the budget allows.
    fn paste_all(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let mut made: Vec<Token> = Vec::new();
        let mut input = tokens.into_iter();
        while let Some(token) = input.next() {
            if !token.is("##") {
                made.push(token);
                continue;
            }
            match (made.pop(), input.next()) {
                (Some(left), Some(right)) => {
                    self.charge(1 + (left.text.len() + right.text.len()) / TEXT_BYTES_PER_STEP);
                    if self.budget == 0 {
                        return made;
                    }
                    made.extend(paste(&left, &right));
                }
                (left, right) => made.extend(left.into_iter().chain(right)),
            }
        }
        made
    }
}

impl Macros {
    pub fn define(&mut self, name: Rc<str>, definition: Macro) {
        self.table.insert(name, Rc::new(definition));
    }

    pub fn undefine(&mut self, name: &str) {
        self.table.remove(name);
    }

    pub fn is_defined(&self, word: &Token) -> bool {
        self.table.contains_key(&word.text)
            || matches!(&*word.text, "__FILE__" | "__LINE__" | HAS_INCLUDE)
    }

    /// Appends `tokens`, expanded, to `output`; false when the budget was not enough.
    pub fn expand(
        &self,
        tokens: Vec<Token>,
        budget: usize,
        sources: &SourceMap,
        diagnostics: &mut Diagnostics,
        output: &mut Vec<Token>,
    ) -> bool {
        self.start(tokens, budget, false, sources, diagnostics, output)
    }

    /// As [`Macros::expand`], for the condition of an `#if`.
    pub fn expand_condition(
        &self,
        tokens: Vec<Token>,
        budget: usize,
        sources: &SourceMap,
        diagnostics: &mut Diagnostics,
        output: &mut Vec<Token>,
    ) -> bool {
        self.start(tokens, budget, true, sources, diagnostics, output)
    }

    fn start(
        &self,
        mut input: Vec<Token>,
        budget: usize,
        answers_defined: bool,
        sources: &SourceMap,
        diagnostics: &mut Diagnostics,
        output: &mut Vec<Token>,
    ) -> bool {
        input.reverse();
        let budget = budget.min(self.steps_left.get());
        let mut expansion = Expansion { input, budget, answers_defined, sources, diagnostics };
        let complete = self.run(&mut expansion, output, 0);
        self.steps_left.set(self.steps_left.get() - (budget - expansion.budget));
        complete
    }

    /// `defined X` or `defined(X)` as 1 or 0, its `defined` taken off the input already.
    fn answer_defined(&self, defined: &Token, expansion: &mut Expansion<'_>) -> Option<Token> {
        let (word, length) = match expansion.input.as_slice() {
            [.., close, word, open] if open.is("(") && close.is(")") => (word, 3),
            [.., word] if word.kind == TokenKind::Word => (word, 1),
            _ => return None,
        };
        let text = if self.is_defined(word) { "1" } else { "0" };
        expansion.input.truncate(expansion.input.len() - length);
        Some(Token { kind: TokenKind::Integer, text: text.into(), ..defined.clone() })
    }

    fn run(&self, expansion: &mut Expansion<'_>, output: &mut Vec<Token>, depth: usize) -> bool {
        while let Some(token) = expansion.input.pop() {
            if expansion.budget == 0 || depth > ARGUMENT_DEPTH_MAX {
                return false;
            }
            expansion.budget -= 1;
            if expansion.answers_defined
                && token.is("defined")
                && let Some(answer) = self.answer_defined(&token, expansion)
            {
                output.push(answer);
                continue;
            }
            if token.kind == TokenKind::Word && !is_hidden(&token) {
                if let Some(place) = place_token(&token, expansion.sources) {
                    output.push(place);
                    continue;
                }
                if let Some(definition) = self.table.get(&token.text).cloned()
                    && let Some(made) = self.apply(&token, &definition, expansion, depth)
                {
                    if expansion.budget == 0 || made.len() > expansion.budget {
                        return false;
                    }
                    expansion.input.extend(made.into_iter().rev());
                    continue;
                }
            }
            output.push(token);
        }
        true
    }

    /// The replacement for this use of a macro; `None` if it is no use (a name without arguments).
    fn apply(
        &self,
        name: &Token,
        definition: &Macro,
        expansion: &mut Expansion<'_>,
        depth: usize,
    ) -> Option<Vec<Token>> {
        let nesting = 1 + name.hidden.as_ref().map_or(0, |names| names.depth);
        let outer = name.hidden.clone();
        let hidden = Rc::new(HiddenNames { name: name.text.clone(), depth: nesting, outer });
        let mut made = match &definition.parameters {
            None => expansion.paste_all(definition.body.clone()),
            Some(parameters) => {
                let arguments = take_arguments(parameters, expansion)?;
                let arguments = self.check_arguments(name, parameters, arguments, expansion);
                self.substitute(definition, parameters, &arguments, expansion, depth)
            }
        };
        for (at, token) in made.iter_mut().enumerate() {
            token.hidden = Some(merge(&hidden, token.hidden.take()));
            token.span = name.span;
            token.starts_line = at == 0 && name.starts_line;
            if at == 0 {
                token.follows_space = name.follows_space;
            }
        }
        Some(made)
    }

    fn check_arguments(
        &self,
        name: &Token,
        parameters: &Parameters,
        mut arguments: Vec<Vec<Token>>,
        expansion: &mut Expansion<'_>,
    ) -> Vec<Vec<Token>> {
        let wanted = parameters.names.len();
        // `F()` has no argument or one empty argument, as the macro wants.
        if wanted == 0 && arguments.len() == 1 && arguments.iter().all(Vec::is_empty) {
            arguments.clear();
        }
        if parameters.is_variadic && arguments.len() + 1 == wanted {
            arguments.push(Vec::new());
        }
        if arguments.len() != wanted {
            let found = arguments.len();
            let title = format!("macro `{}` takes {wanted} arguments, not {found}", name.text);
            expansion.diagnostics.push(Diagnostic::error("preprocessor", name.span, title));
            arguments.resize(wanted, Vec::new());
        }
        arguments
    }

    /// The body with arguments in place of parameters: expanded ones, but as written next to `##`
    /// and as a string after `#`.
    fn substitute(
        &self,
        definition: &Macro,
        parameters: &Parameters,
        arguments: &[Vec<Token>],
        expansion: &mut Expansion<'_>,
        depth: usize,
    ) -> Vec<Token> {
        let argument_of = |token: &Token| {
            let at = parameters.names.iter().position(|parameter| *parameter == token.text)?;
            arguments.get(at).filter(|_| token.kind == TokenKind::Word)
        };
        let body = &definition.body;
        expansion.charge(body.len() * (1 + parameters.names.len() / PARAMETERS_PER_STEP));
        let is_paste =
            |at: Option<usize>| at.and_then(|at| body.get(at)).is_some_and(|token| token.is("##"));
        let mut made = Vec::new();
        let mut at = 0;
        while let Some(token) = body.get(at).filter(|_| expansion.budget > 0) {
            let next = body.get(at + 1);
            if token.is("#")
                && let Some(argument) = next.and_then(argument_of)
            {
                let string = string_token(token, argument);
                expansion.charge(string.text.len() / TEXT_BYTES_PER_STEP);
                made.push(string);
                at += 2;
                continue;
            }
            // `, ## args`: the comma is there only if there are arguments.
            if token.is(",")
                && is_paste(Some(at + 1))
                && let Some(last) = body.get(at + 2).filter(|last| parameters.is_rest(last))
            {
                if let Some(argument) = argument_of(last).filter(|argument| !argument.is_empty()) {
                    made.push(token.clone());
                    self.expand_argument(argument, expansion, &mut made, depth);
                }
                at += 3;
                continue;
            }
            match argument_of(token) {
                None => made.push(token.clone()),
                Some(argument) if is_paste(at.checked_sub(1)) || is_paste(Some(at + 1)) => {
                    made.extend(argument.iter().cloned());
                }
                Some(argument) => {
                    let from = made.len();
                    self.expand_argument(argument, expansion, &mut made, depth);
                    if let Some(first) = made.get_mut(from) {
                        first.follows_space = token.follows_space;
                    }
                }
            }
            at += 1;
        }
        expansion.paste_all(made)
    }

    fn expand_argument(
        &self,
        argument: &[Token],
        expansion: &mut Expansion<'_>,
        made: &mut Vec<Token>,
        depth: usize,
    ) {
        let input = argument.iter().rev().cloned().collect();
        let mut inner = Expansion {
            input,
            budget: expansion.budget,
            answers_defined: expansion.answers_defined,
            sources: expansion.sources,
            diagnostics: &mut *expansion.diagnostics,
        };
        if !self.run(&mut inner, made, depth + 1) {
            inner.budget = 0;
        }
        expansion.budget = inner.budget;
    }
}

impl Parameters {
    /// Whether the word stands for all arguments that are left.
    fn is_rest(&self, word: &Token) -> bool {
        self.is_variadic && self.names.last() == Some(&word.text)
    }
}

/// Whether the token must not be expanded: it came out of this macro, or out of too many.
fn is_hidden(token: &Token) -> bool {
    let hidden = token.hidden.as_ref();
    hidden.is_some_and(|names| names.depth >= MACRO_DEPTH_MAX || has(names, &token.text))
}

fn has(names: &Rc<HiddenNames>, name: &str) -> bool {
    let mut next = Some(names);
    while let Some(names) = next {
        if &*names.name == name {
            return true;
        }
        next = names.outer.as_ref();
    }
    false
}

/// The token's own hidden names with those of the macro on top.
fn merge(hidden: &Rc<HiddenNames>, own: Option<Rc<HiddenNames>>) -> Rc<HiddenNames> {
    match own {
        None => hidden.clone(),
        Some(own) => {
            let mut merged = own;
            let mut next = Some(hidden);
            while let Some(names) = next {
                if !has(&merged, &names.name) {
                    let (name, depth) = (names.name.clone(), merged.depth + 1);
                    merged = Rc::new(HiddenNames { name, depth, outer: Some(merged) });
                }
                next = names.outer.as_ref();
            }
            merged
        }
    }
}

/// `__LINE__` and `__FILE__`.
fn place_token(token: &Token, sources: &SourceMap) -> Option<Token> {
    let here = || sources.location(token.span);
    match &*token.text {
        "__FILE__" => {
            let text = format!("\"{}\"", here().file).into();
            Some(Token { kind: TokenKind::String, text, ..token.clone() })
        }
        "__LINE__" => {
            let text = here().line.to_string().into();
            Some(Token { kind: TokenKind::Integer, text, ..token.clone() })
        }
        _ => None,
    }
}

/// Takes `( ... )` off the input, split at commas outside of inner parentheses, as far as the macro
/// has parameters to split for. Leaves the input alone and returns `None` when there is no complete
/// list.
fn take_arguments(
    parameters: &Parameters,
    expansion: &mut Expansion<'_>,
) -> Option<Vec<Vec<Token>>> {
    let is_whole = |count: usize| parameters.is_variadic && count == parameters.names.len();
    if !expansion.input.last()?.is("(") {
        return None;
    }
    // Each use of a macro that is not closed reads all that follows, so it is paid for.
    let read_count = expansion.input.len();
    let mut arguments = vec![Vec::new()];
    let mut depth = 0usize;
    for (taken, token) in expansion.input.iter().rev().enumerate() {
        if token.is("(") {
            depth += 1;
            if depth == 1 {
                continue;
            }
        } else if token.is(")") {
            depth -= 1;
            if depth == 0 {
                expansion.input.truncate(expansion.input.len() - taken - 1);
                return Some(arguments);
            }
        } else if depth == 1 && token.is(",") && !is_whole(arguments.len()) {
            arguments.push(Vec::new());
            continue;
        }
        if let Some(argument) = arguments.last_mut() {
            argument.push(token.clone());
        }
    }
    expansion.charge(read_count);
    None
}

/// The argument as a string literal.
fn string_token(hash: &Token, argument: &[Token]) -> Token {
    let text = spell(argument).replace('\\', "\\\\").replace('"', "\\\"");
    Token { kind: TokenKind::String, text: format!("\"{text}\"").into(), ..hash.clone() }
}

/// One token out of two, or more where they do not fit together.
fn paste(left: &Token, right: &Token) -> Vec<Token> {
    let text = format!("{}{}", left.text, right.text);
    let mut ignored = Diagnostics::default();
    let mut tokens = tokenize(FileId(u32::MAX), &text, &mut ignored);
    for token in &mut tokens {
        token.span = left.span;
        token.follows_space = left.follows_space;
        token.starts_line = false;
        token.hidden = left.hidden.clone();
    }
    tokens
}
