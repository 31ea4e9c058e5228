//! A bound on what old and short forms of a program are spelled out to: a line of JSON can stand for
//! thousands of objects.

use crate::node::ReadError;

/// How much the objects of one kind may take that the text does not list.
const SPELLED_OUT_BYTES_MAX: usize = 4 << 20;
/// An object without its names.
const OBJECT_BYTES: usize = 96;

/// Memory left for objects of one kind.
pub(crate) struct Room {
    objects: &'static str,
    left_bytes: usize,
}

impl Room {
    pub(crate) fn for_what(objects: &'static str) -> Room {
        Room { objects, left_bytes: SPELLED_OUT_BYTES_MAX }
    }

    /// Takes the memory of one object with these names.
    pub(crate) fn take(&mut self, names: &[&String]) -> Result<(), ReadError> {
        let bytes = OBJECT_BYTES + names.iter().map(|name| name.len()).sum::<usize>();
        let left = self.left_bytes.checked_sub(bytes);
        self.left_bytes = left.ok_or_else(|| ReadError {
            path: String::new(),
            expected: format!(
                "{} to take at most {} MiB",
                self.objects,
                SPELLED_OUT_BYTES_MAX >> 20
            ),
            found: "more".to_owned(),
        })?;
        Ok(())
    }
}
