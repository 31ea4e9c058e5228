//! The text form of protobuf, printed as the C++ library prints it.

use std::fmt::Display;

/// Collects lines, two spaces of indentation a level.
#[derive(Default)]
pub struct Printer {
    text: String,
    depth: usize,
}

impl Printer {
    /// `name: value`, for numbers, booleans and the names of enumerators.
    pub fn scalar(&mut self, name: &str, value: impl Display) {
        self.indent();
        self.text.push_str(&format!("{name}: {value}\n"));
    }

    /// `name: "value"`, with every byte outside printable ASCII escaped.
    pub fn bytes(&mut self, name: &str, value: &[u8]) {
        self.indent();
        self.text.push_str(name);
        self.text.push_str(": \"");
        for &byte in value {
            self.escape(byte);
        }
        self.text.push_str("\"\n");
    }

    /// `name { ... }`, with `body` printed one level deeper.
    pub fn message(&mut self, name: &str, body: impl FnOnce(&mut Printer)) {
        self.indent();
        self.text.push_str(name);
        self.text.push_str(" {\n");
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.indent();
        self.text.push_str("}\n");
    }

    pub fn finish(self) -> String {
        self.text
    }

    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
    }

    fn escape(&mut self, byte: u8) {
        match byte {
            b'\n' => self.text.push_str("\\n"),
            b'\r' => self.text.push_str("\\r"),
            b'\t' => self.text.push_str("\\t"),
            b'"' => self.text.push_str("\\\""),
            b'\'' => self.text.push_str("\\'"),
            b'\\' => self.text.push_str("\\\\"),
            0x20..=0x7e => self.text.push(char::from(byte)),
            _ => self.text.push_str(&format!("\\{byte:03o}")),
        }
    }
}
