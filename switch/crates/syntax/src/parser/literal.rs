//! Integer and string literals.

use super::Parser;
use crate::Diagnostic;
use crate::token::Token;
use crate::tree::IntegerLiteral;
use bits::Int;
use std::rc::Rc;

/// Longest literal: more than any width needs, little enough to convert quickly.
const DIGIT_COUNT_MAX: usize = 10_000;

impl Parser<'_> {
    /// The value of an integer token; a wrong one is reported and counts as 0.
    pub(super) fn integer(&mut self, token: &Token) -> IntegerLiteral {
        match integer_literal(&token.text) {
            Ok(literal) => literal,
            Err(reason) => {
                let title = format!("`{}` is not an integer: {reason}", token.text);
                let hint = "write 10, 0x0A, 0b1010, 8w10 (bit<8>) or 8s10 (int<8>)";
                self.report(Diagnostic::error("integer", token.span, title).hint(hint));
                IntegerLiteral { value: Int::zero(), width: None }
            }
        }
    }
}

/// `WIDTHwDIGITS`, `WIDTHsDIGITS` or digits alone; underscores are for the eye.
fn integer_literal(text: &str) -> Result<IntegerLiteral, String> {
    if text.len() > DIGIT_COUNT_MAX {
        return Err(format!("more than {DIGIT_COUNT_MAX} digits"));
    }
    // The width ends at the first `w` or `s`; hexadecimal digits are neither.
    let Some(at) = text.find(['w', 's']) else {
        return Ok(IntegerLiteral { value: digits(text)?, width: None });
    };
    let (width, rest) = text.split_at(at);
    let is_signed = rest.starts_with('s');
    let width: u32 = width.parse().map_err(|_| "the width is no number".to_string())?;
    let value = digits(rest.get(1..).unwrap_or(""))?;
    Ok(IntegerLiteral { value, width: Some((is_signed, width)) })
}

/// Digits in the base that their prefix names.
fn digits(text: &str) -> Result<Int, String> {
    let lower = text.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, lower.get(2..)),
        Some("0o") => (8, lower.get(2..)),
        Some("0b") => (2, lower.get(2..)),
        Some("0d") => (10, lower.get(2..)),
        _ => (10, lower.get(..)),
    };
    let digits = digits.unwrap_or("").replace('_', "");
    Int::from_digits(&digits, radix).map_err(|_| "there is a wrong digit".into())
}

/// The characters between the quotes, escapes resolved.
pub(super) fn string(token: &Token) -> Rc<str> {
    let inner = token.text.strip_prefix('"').unwrap_or(&token.text);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut text = String::new();
    let mut characters = inner.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some('t') => text.push('\t'),
                Some(escaped) => text.push(escaped),
                None => {}
            },
            _ => text.push(c),
        }
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::integer_literal;

    #[test]
    fn integers_of_every_base_and_width_are_read() {
        for (text, value, width) in [
            ("10", 10, None),
            ("0xFF_ff", 0xFFFF, None),
            ("0b1010", 10, None),
            ("0o17", 15, None),
            ("0d9", 9, None),
            ("8w0x0A", 10, Some((false, 8))),
            ("16s7", 7, Some((true, 16))),
            ("010", 10, None),
        ] {
            let literal = integer_literal(text).expect(text);
            assert_eq!((literal.value, literal.width), (value.into(), width), "{text}");
        }
        for wrong in ["12ab", "0x", "8w", "0b2", "99999999999w1"] {
            assert!(integer_literal(wrong).is_err(), "{wrong}");
        }
    }
}
