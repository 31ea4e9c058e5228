//! The memory limits of a program: one bound for its arrays, which are there from the start, one
//! for its tables, which fill later. A program that declares more is refused when it is loaded, on
//! any machine; one whose arrays find no room in the budget of the process, there and then.

use units::memory::Share;

use crate::error::LoadError;

/// The limit for all arrays of a program together.
pub const ARRAY_MEMORY_BYTES: u64 = 512 << 20;
/// The limit for all tables of a program together with as many entries as they declare.
pub const TABLE_MEMORY_BYTES: u64 = 4 << 30;

/// The room for a program's objects of one sort.
#[derive(Debug)]
pub(crate) struct Room {
    /// All objects of the sort, in words, and what they consist of.
    what: &'static str,
    cells: &'static str,
    bound_bytes: u64,
    left_bytes: u64,
    /// The memory already taken by objects that are there from the start.
    memory: Option<Share>,
}

impl Room {
    /// All of the room for counters, meters and registers; what they take is added to `memory`.
    pub fn of_arrays(memory: Share) -> Room {
        let room = Room::new("counters, meters and registers", "cells", ARRAY_MEMORY_BYTES);
        Room { memory: Some(memory), ..room }
    }

    /// All of the room for tables.
    pub fn of_tables() -> Room {
        Room::new("the tables", "entries", TABLE_MEMORY_BYTES)
    }

    fn new(what: &'static str, cells: &'static str, bound_bytes: u64) -> Room {
        Room { what, cells, bound_bytes, left_bytes: bound_bytes, memory: None }
    }

    /// The memory taken.
    pub fn into_memory(self) -> Share {
        self.memory.unwrap_or_default()
    }

    /// The size of an object of this many cells, if there is room for it.
    pub fn take(
        &mut self,
        path: &str,
        name: &str,
        size: u32,
        cell_bytes: usize,
    ) -> Result<usize, LoadError> {
        let wanted_bytes = u64::from(size).saturating_mul(cell_bytes as u64);
        match self.left_bytes.checked_sub(wanted_bytes) {
            Some(left_bytes) => {
                if let Some(memory) = &mut self.memory {
                    let taken = memory.grow(wanted_bytes);
                    taken.map_err(|error| LoadError::of_memory(path, name, &error))?;
                }
                self.left_bytes = left_bytes;
                Ok(size as usize)
            }
            None => Err(LoadError::new(
                path,
                format!(
                    "{} of a program take at most {} MiB together: {name} takes {} with its \
                     {size} {}, and {} are left",
                    self.what,
                    self.bound_bytes >> 20,
                    wanted_bytes.div_ceil(1 << 20),
                    self.cells,
                    self.left_bytes >> 20,
                ),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;
    use units::memory::{Budget, Purpose};

    use super::*;

    #[test]
    fn objects_share_one_room_and_the_one_that_finds_none_is_named() {
        let mut room = Room::of_arrays(Share::default());
        // 16 bytes a counter: 8 Mi of them take 128 MiB, three more such arrays the rest.
        for index in 0..4 {
            let path = format!("/counter_arrays/{index}/size");
            assert_eq!(room.take(&path, "packets", 8 << 20, 16), Ok(8 << 20));
        }
        let refused = room.take("/register_arrays/0/size", "last", 1, 8);
        let refused = refused.expect_err("nothing is left");
        assert_eq!(refused.path, "/register_arrays/0/size");
        assert_eq!(
            refused.message,
            "counters, meters and registers of a program take at most 512 MiB together: last takes \
             1 with its 1 cells, and 0 are left"
        );
    }

    #[test]
    fn arrays_that_find_no_room_in_the_budget_are_named_too() {
        // Programs have five 24ths of the memory that is not for packets.
        let budget = Budget::new(Bytes(64 << 20), Bytes(16 << 20));
        let mut room = Room::of_arrays(budget.share(Purpose::Programs));
        assert_eq!(room.take("/register_arrays/0/size", "first", 1 << 19, 8), Ok(1 << 19));
        let refused = room.take("/register_arrays/1/size", "second", 1 << 20, 16);
        let refused = refused.expect_err("6 MiB are left");
        assert!(refused.is_of_memory);
        assert!(refused.message.starts_with("there is no room for second"), "{refused}");
        assert!(refused.message.contains("16 MiB more, and 6 of 10 are free"), "{refused}");
        assert_eq!(room.into_memory().bytes(), 4 << 20);
    }
}
