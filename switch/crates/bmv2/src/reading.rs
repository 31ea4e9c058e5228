//! The memory that reading a text takes, estimated from the text alone.
//!
//! Most of it is the text as a tree of values: an empty object takes two bytes of text and hundreds in
//! the tree. So objects, arrays and values are counted, not bytes.

/// An object: its hash table, the place of its first member, and the program's struct.
const OBJECT_BYTES: u64 = 900;
/// An array with room for its first elements.
const ARRAY_BYTES: u64 = 320;
/// One more member or element, with the room that a list that grows has to spare.
const VALUE_BYTES: u64 = 224;
/// Names and texts are in the tree and in the program.
const COPY_COUNT: u64 = 2;

/// The most that [`crate::read`] and loading the program hold while they work, in bytes.
pub fn reading_bytes(json: &[u8]) -> u64 {
    let (mut in_string, mut escaped) = (false, false);
    let mut bytes = json.len() as u64 * COPY_COUNT;
    for byte in json {
        bytes += match byte {
            _ if escaped => {
                escaped = false;
                0
            }
            b'\\' if in_string => {
                escaped = true;
                0
            }
            b'"' => {
                in_string = !in_string;
                0
            }
            b'{' if !in_string => OBJECT_BYTES,
            b'[' if !in_string => ARRAY_BYTES,
            b',' if !in_string => VALUE_BYTES,
            _ => 0,
        };
    }
    bytes
}
