//! [`Kept`]: the last results of something that may go on for ever.

use std::collections::VecDeque;

/// Results that are kept. An application with more, in a world that runs for days, forgets the
/// oldest: all of them are reported as they happen.
pub const KEPT_MAX: usize = 1 << 16;

/// The last [`KEPT_MAX`] results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept<T> {
    last: VecDeque<T>,
    forgotten: u64,
}

impl<T> Default for Kept<T> {
    fn default() -> Kept<T> {
        Kept { last: VecDeque::new(), forgotten: 0 }
    }
}

impl<T> Kept<T> {
    pub(super) fn push(&mut self, result: T) {
        if self.last.len() == KEPT_MAX {
            self.last.pop_front();
            self.forgotten += 1;
        }
        self.last.push_back(result);
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.forgotten + self.last.len() as u64
    }

    /// How many of them are not kept any more.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Those that are kept, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.last.iter()
    }

    /// The one of this number, counted from the first that there was, if it is kept.
    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let place = number.checked_sub(self.forgotten)?;
        self.last.get_mut(usize::try_from(place).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten_and_counted() {
        let mut kept = Kept::default();
        (0..KEPT_MAX as u64 + 3).for_each(|number| kept.push(number));
        assert_eq!((kept.count(), kept.forgotten()), (KEPT_MAX as u64 + 3, 3));
        assert_eq!(kept.iter().next(), Some(&3));
        assert_eq!(kept.get_mut(2), None);
        assert_eq!(kept.get_mut(3), Some(&mut 3));
    }
}
