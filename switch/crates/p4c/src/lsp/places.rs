//! Addresses of files and places in them, as the protocol has them: `file://` with escapes, lines, and
//! UTF-16 units in a line.

use compiler::{SourceMap, Span};
use language::{place, plain};
use serde_json::{Value, json};

/// The path of an address. One of another kind (a text that is in no file yet) stands for itself.
pub fn path_of(address: &str) -> String {
    let Some(path) = address.strip_prefix("file://") else { return address.to_owned() };
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let escaped = behind.get(..2).filter(|_| *first == b'%');
        let escaped = escaped.and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    plain(&String::from_utf8_lossy(&bytes))
}

/// The address of a path.
pub fn address_of(path: &str) -> String {
    if !path.starts_with('/') {
        return path.to_owned();
    }
    let mut address = "file://".to_owned();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            address.push_str(&format!("%{byte:02X}"));
        }
    }
    address
}

/// The byte of a text at which a position is.
pub fn offset(text: &str, position: &Value) -> u32 {
    let number = |name: &str| position[name].as_u64().unwrap_or(0) as usize;
    place::offset_in_line(text, number("line"), number("character")) as u32
}

/// From one byte of a text to another.
pub fn range(text: &str, from: u32, to: u32) -> Value {
    let position = |offset: u32| {
        let (line, character) = place::line_and_unit(text, offset as usize);
        json!({"line": line, "character": character})
    };
    json!({"start": position(from), "end": position(to)})
}

/// A place in one of the texts that were read.
pub fn range_of(span: Span, sources: &SourceMap) -> Value {
    range(sources.file(span.file).map_or("", |file| &file.text), span.start, span.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_path_and_back() {
        let path = "/home/a student/\u{e9}.p4";
        let address = address_of(path);
        assert_eq!(address, "file:///home/a%20student/%C3%A9.p4");
        assert_eq!(path_of(&address), path);
        assert_eq!(path_of("file:///a/../b%2"), "/b%2", "an escape that is none stays");
        assert_eq!(path_of("untitled:one"), "untitled:one");
    }
}
