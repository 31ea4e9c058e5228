//! An indexed binary heap of ports by their next instant, so that idle ports cost nothing.
//!
//! Each member (a port, or the fabric) has at most one instant at which it must be looked at.
//! Setting, moving and clearing it take logarithmic time in the number of members that are
//! waiting, and finding the earliest takes none.

use std::cmp::Ordering;

use units::Time;

/// Not in the heap.
const ABSENT: u32 = u32::MAX;

/// The instants at which members are due, earliest first; ties go to the lower number.
#[derive(Debug, Default)]
pub(crate) struct DueHeap {
    heap: Vec<(Time, u32)>,
    /// Where each member is in `heap`.
    places: Vec<u32>,
}

impl DueHeap {
    /// The earliest instant and its member.
    pub fn first(&self) -> Option<(Time, usize)> {
        self.heap.first().map(|(at, member)| (*at, *member as usize))
    }

    /// When `member` is due.
    #[cfg(test)]
    pub fn instant_of(&self, member: usize) -> Option<Time> {
        match self.places.get(member) {
            Some(&place) if place != ABSENT => Some(self.heap[place as usize].0),
            _ => None,
        }
    }

    /// Makes `member` due at `due`, or not due at all.
    #[inline]
    pub fn set(&mut self, member: usize, due: Option<Time>) {
        if member >= self.places.len() {
            self.places.resize(member + 1, ABSENT);
        }
        match (self.places[member], due) {
            (ABSENT, None) => {}
            (ABSENT, Some(at)) => {
                let place = self.heap.len();
                self.heap.push((at, member as u32));
                self.places[member] = place as u32;
                self.rise(place);
            }
            (place, Some(at)) => {
                let place = place as usize;
                let before = std::mem::replace(&mut self.heap[place].0, at);
                match at.cmp(&before) {
                    Ordering::Less => self.rise(place),
                    Ordering::Equal => {}
                    Ordering::Greater => self.sink(place),
                }
            }
            (place, None) => {
                let place = place as usize;
                self.places[member] = ABSENT;
                let last = self.heap.pop().expect("the member is in the heap");
                if place < self.heap.len() {
                    self.heap[place] = last;
                    self.places[last.1 as usize] = place as u32;
                    self.rise(place);
                    self.sink(self.places[last.1 as usize] as usize);
                }
            }
        }
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap[parent] <= self.heap[place] {
                break;
            }
            self.swap(parent, place);
            place = parent;
        }
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let left = 2 * place + 1;
            let Some(&left_key) = self.heap.get(left) else { break };
            let child = match self.heap.get(left + 1) {
                Some(&right_key) if right_key < left_key => left + 1,
                _ => left,
            };
            if self.heap[place] <= self.heap[child] {
                break;
            }
            self.swap(place, child);
            place = child;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.places[self.heap[a].1 as usize] = a as u32;
        self.places[self.heap[b].1 as usize] = b as u32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against the obvious model: a map searched for its minimum.
        #[test]
        fn the_first_is_always_the_earliest_of_all(
            steps in prop::collection::vec((0..20usize, prop::option::of(0..50u64)), 1..300)
        ) {
            let mut heap = DueHeap::default();
            let mut model = BTreeMap::new();
            for (member, due) in steps {
                let due = due.map(Time::from_ps);
                heap.set(member, due);
                match due {
                    Some(at) => { model.insert(member, at); }
                    None => { model.remove(&member); }
                }
                let expected = model.iter().map(|(member, at)| (*at, *member)).min();
                prop_assert_eq!(heap.first(), expected);
                prop_assert_eq!(heap.instant_of(member), due);
            }
        }
    }
}
