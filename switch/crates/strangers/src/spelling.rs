//! Bytes as a line of text that shows in a difference what has changed: what can be printed stands for
//! itself, all else as `\n`, `\t`, `\r`, `\\` or `\xNN`. Empty lines and those that begin with `#` are
//! no input. `tests/fuzz_corpus.py` writes it.

/// The inputs of a file, each with the number of its line.
///
/// # Panics
/// If a line is not spelled like that.
pub fn inputs(text: &str) -> impl Iterator<Item = (usize, Vec<u8>)> {
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(number, line)| {
        let bytes = bytes_of(line).unwrap_or_else(|| panic!("line {number} is spelled wrong"));
        (number, bytes)
    })
}

fn bytes_of(line: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(line.len());
    let mut rest = line.as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, next) = match (first, after) {
            (b'\\', [b'x', digits @ ..]) => {
                let (digits, next) = digits.split_at_checked(2)?;
                let digits = std::str::from_utf8(digits).ok()?;
                (u8::from_str_radix(digits, 16).ok()?, next)
            }
            (b'\\', [letter, next @ ..]) => (escaped(*letter)?, next),
            (b' '..=b'~', next) if *first != b'\\' => (*first, next),
            _ => return None,
        };
        bytes.push(byte);
        rest = next;
    }
    Some(bytes)
}

fn escaped(letter: u8) -> Option<u8> {
    Some(match letter {
        b'\\' => b'\\',
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_an_input_but_for_comments() {
        let text = "# broke the lexer\na\\x00\\xff\\n\\\\b\n\n\\x23\n";
        let found: Vec<_> = inputs(text).collect();
        assert_eq!(found, [(2, b"a\0\xff\n\\b".to_vec()), (4, b"#".to_vec())]);
    }

    #[test]
    fn what_is_spelled_otherwise_is_no_input() {
        for wrong in ["\\", "\\x1", "\\xg0", "\\q", "é", "\t"] {
            assert_eq!(bytes_of(wrong), None, "{wrong:?}");
        }
    }
}
