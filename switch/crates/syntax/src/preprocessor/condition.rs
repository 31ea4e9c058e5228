//! The expressions of `#if` and `#elif`: C's integer expressions, in 64 bits.

use super::macros::Macros;
use crate::token::{Token, TokenKind};
use crate::{Diagnostics, SourceMap};

/// Deepest nesting of parentheses and prefix operators.
const DEPTH_MAX: usize = 100;
/// Most tokens one condition may expand to.
const TOKEN_COUNT_MAX: usize = 10_000;

/// Whether the condition holds, or what is wrong with it.
pub(super) fn evaluate(
    tokens: &[Token],
    macros: &Macros,
    sources: &SourceMap,
    diagnostics: &mut Diagnostics,
) -> Result<bool, String> {
    let mut expanded = Vec::new();
    if !macros.expand_condition(
        tokens.to_vec(),
        TOKEN_COUNT_MAX,
        sources,
        diagnostics,
        &mut expanded,
    ) {
        return Err("it expands to too many tokens".into());
    }
    let mut reader = Reader { tokens: &expanded, at: 0, depth: 0 };
    let value = reader.conditional()?;
    match reader.peek() {
        "" => Ok(value != 0),
        rest => Err(format!("`{rest}` is not expected there")),
    }
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

/// Binary operators by precedence, weakest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Reader<'_> {
    /// The next operator or word, `>>` put together; empty at the end.
    fn peek(&self) -> &str {
        let text = |at: usize| self.tokens.get(at).map_or("", |token| &*token.text);
        let joined = self.tokens.get(self.at + 1).is_some_and(|next| !next.follows_space);
        match text(self.at) {
            ">" if joined && text(self.at + 1) == ">" => ">>",
            other => other,
        }
    }

    fn eat(&mut self, wanted: &str) -> bool {
        let found = self.peek() == wanted;
        if found {
            self.at += if wanted == ">>" { 2 } else { 1 };
        }
        found
    }

    fn conditional(&mut self) -> Result<i64, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("it is nested too deep".into());
        }
        let condition = self.binary(0)?;
        let value = if self.eat("?") {
            let then = self.conditional()?;
            if !self.eat(":") {
                return Err("`:` is missing after `?`".into());
            }
            let otherwise = self.conditional()?;
            if condition != 0 { then } else { otherwise }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, level: usize) -> Result<i64, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|symbol| self.peek() == **symbol) {
            self.eat(operator);
            let right = self.binary(level + 1)?;
            left = compute(operator, left, right)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i64, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("it is nested too deep".into());
        }
        let value = if self.eat("!") {
            i64::from(self.unary()? == 0)
        } else if self.eat("-") {
            self.unary()?.wrapping_neg()
        } else if self.eat("~") {
            !self.unary()?
        } else if self.eat("+") {
            self.unary()?
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn primary(&mut self) -> Result<i64, String> {
        if self.eat("(") {
            let value = self.conditional()?;
            return if self.eat(")") { Ok(value) } else { Err("`)` is missing".into()) };
        }
        let Some(token) = self.tokens.get(self.at) else {
            return Err("a value is missing at its end".into());
        };
        self.at += 1;
        match token.kind {
            TokenKind::Integer => integer(&token.text),
            TokenKind::Word if &*token.text == "true" => Ok(1),
            // A name that is no macro counts as 0, as in C.
            TokenKind::Word => Ok(0),
            TokenKind::Unknown if token.text.starts_with('\'') => character(&token.text),
            _ => Err(format!("`{}` is not expected there", token.text)),
        }
    }
}

/// The value of a character such as `'a'`: as in C on most machines, a signed number of 8 bits.
fn character(text: &str) -> Result<i64, String> {
    let unknown = || format!("`{text}` is not a character of ASCII");
    let inside = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    let inside = inside.ok_or_else(unknown)?;
    let code = match inside.strip_prefix('\\') {
        None => inside.bytes().next().filter(|_| inside.len() == 1),
        Some(escape) => match escape.as_bytes() {
            [b'a'] => Some(7),
            [b'b'] => Some(8),
            [b't'] => Some(b'\t'),
            [b'n'] => Some(b'\n'),
            [b'v'] => Some(11),
            [b'f'] => Some(12),
            [b'r'] => Some(b'\r'),
            [quoted @ (b'\\' | b'\'' | b'"' | b'?')] => Some(*quoted),
            [b'x', ..] => u8::from_str_radix(&escape[1..], 16).ok(),
            _ => u8::from_str_radix(escape, 8).ok(),
        },
    };
    code.map(|code| i64::from(code as i8)).ok_or_else(unknown)
}

fn integer(text: &str) -> Result<i64, String> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']).replace('_', "");
    let lower = digits.to_ascii_lowercase();
    let parsed = if let Some(hex) = lower.strip_prefix("0x") {
        i64::from_str_radix(hex, 16)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        i64::from_str_radix(binary, 2)
    } else if lower.len() > 1 && lower.starts_with('0') {
        i64::from_str_radix(&lower, 8)
    } else {
        lower.parse()
    };
    parsed.map_err(|_| format!("`{text}` is not an integer of 64 bits"))
}

fn compute(operator: &str, left: i64, right: i64) -> Result<i64, String> {
    Ok(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<<" => left.checked_shl(right as u32).unwrap_or(0),
        ">>" => left.checked_shr(right as u32).unwrap_or(0),
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" | "%" if right == 0 => return Err("division by zero".into()),
        "/" => left.wrapping_div(right),
        _ => left.wrapping_rem(right),
    })
}
