//! Places as editors count them. Their strings are made of UTF-16 units: a language server names a line
//! and a unit in it, a page the unit in the whole text.

/// The number of UTF-16 units before this byte.
pub fn units(text: &str, offset: usize) -> usize {
    head(text, offset).encode_utf16().count()
}

/// The byte behind this many UTF-16 units; the end of the text if it has fewer.
pub fn offset(text: &str, units: usize) -> usize {
    let mut left = units;
    for (at, c) in text.char_indices() {
        if left < c.len_utf16() {
            return at;
        }
        left -= c.len_utf16();
    }
    text.len()
}

/// Line, and UTF-16 unit in it, of a byte; both count from 0.
pub fn line_and_unit(text: &str, offset: usize) -> (usize, usize) {
    let before = head(text, offset);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count(), before[line_start..].encode_utf16().count())
}

/// The byte at a line and a UTF-16 unit in it. Behind the end of a line is its end.
pub fn offset_in_line(text: &str, line: usize, unit: usize) -> usize {
    let start = match line.checked_sub(1) {
        None => 0,
        Some(before) => text.match_indices('\n').nth(before).map_or(text.len(), |(at, _)| at + 1),
    };
    let rest = &text[start..];
    let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
    start + offset(line, unit)
}

/// The text before a byte; for one inside of a character, before that.
fn head(text: &str, offset: usize) -> &str {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    &text[..offset]
}

#[cfg(test)]
mod tests {
    use super::*;

    // The sign takes four bytes and two units: "é" is two bytes and one unit.
    const TEXT: &str = "a\u{1f4a1}b\né c\n";

    #[test]
    fn bytes_and_units_are_told_apart() {
        assert_eq!((units(TEXT, 5), offset(TEXT, 3)), (3, 5), "in front of b");
        assert_eq!(line_and_unit(TEXT, 9), (1, 1), "behind é");
        assert_eq!(offset_in_line(TEXT, 1, 1), 9);
    }

    #[test]
    fn places_outside_of_the_text_are_moved_into_it() {
        assert_eq!(units(TEXT, 99), TEXT.encode_utf16().count());
        assert_eq!(units(TEXT, 3), 1, "inside of the sign");
        assert_eq!(offset_in_line(TEXT, 0, 99), 6, "the end of the first line");
        assert_eq!(offset_in_line(TEXT, 99, 0), TEXT.len());
    }
}
