//! Protobuf's JSON form: what the text form has no words for.

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The name of a field in JSON: `is_const_table` is `isConstTable`.
pub fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut joined = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        joined.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        joined.push_str(letters.as_str());
    }
    joined
}

/// Bytes as JSON has them.
pub fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let number = (0..3).fold(0, |number, at| {
            number << 8 | usize::from(group.get(at).copied().unwrap_or_default())
        });
        // Three bytes are four digits, two are three, one is two.
        for digit in 0..4 {
            let index = number >> (18 - 6 * digit) & 63;
            text.push(if digit <= group.len() { char::from(BASE64[index]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_rfc_4648_shows_it() {
        let examples = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(examples.map(|text| base64(text.as_bytes())), expected);
    }

    #[test]
    fn names_are_joined() {
        assert_eq!(camel_case("id"), "id");
        assert_eq!(camel_case("has_initial_entries"), "hasInitialEntries");
    }
}
