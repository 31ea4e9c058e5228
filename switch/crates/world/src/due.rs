//! The event heap of a world: who must be looked at next.
//!
//! A world has few nodes and each has one next instant, which changes with nearly every packet, so
//! this is a tournament: the leaves are the nodes, and each inner place holds the earlier of the
//! two below it. A change walks from its leaf towards the top and stops where nothing changes any
//! more; the first node is read off the top, and the first without it off the places beside its
//! way. Nothing moves, so nothing has to be found again.

use units::Time;

/// A node and its instant in one number: the instant in picoseconds, then in the low 32 bits the
/// node. So the order is that in which nodes have their turn, and it takes two instructions to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    const NEVER: Entry = Entry::new(Time::MAX, 0);

    #[inline]
    const fn new(at: Time, node: u32) -> Entry {
        Entry((at.ps() as u128) << 32 | node as u128)
    }

    #[inline]
    const fn at(self) -> Time {
        Time::from_ps((self.0 >> 32) as u64)
    }

    #[inline]
    const fn node(self) -> usize {
        self.0 as u32 as usize
    }
}

/// At most one instant for each node; ties go to the lower number.
#[derive(Debug)]
pub(crate) struct Due {
    /// How many leaves there are: a power of two.
    width: usize,
    /// Place 1 is the top, below place `p` are `2 p` and `2 p + 1`, and the leaves come last.
    places: Vec<Entry>,
}

impl Due {
    pub fn new() -> Due {
        Due { width: 0, places: Vec::new() }
    }

    /// Room for one more node, which is due never.
    pub fn add(&mut self, node: usize) {
        if node < self.width {
            return;
        }
        let before: Vec<Entry> = self.places.drain(..).skip(self.width).collect();
        self.width = (node + 1).next_power_of_two();
        let leaves = (0..self.width as u32).map(|node| Entry::new(Time::MAX, node));
        self.places = std::iter::repeat_n(Entry::NEVER, self.width).chain(leaves).collect();
        for place in (1..self.width).rev() {
            self.places[place] = self.places[2 * place].min(self.places[2 * place + 1]);
        }
        for entry in before {
            self.set(entry.node(), entry.at());
        }
    }

    /// Makes `node` due at `at`; `Time::MAX` is never.
    #[inline]
    pub fn set(&mut self, node: usize, at: Time) {
        let mut place = self.width + node;
        let mut entry = Entry::new(at, node as u32);
        while self.places[place] != entry {
            self.places[place] = entry;
            if place == 1 {
                return;
            }
            entry = entry.min(self.places[place ^ 1]);
            place /= 2;
        }
    }

    /// The earliest instant and its node.
    #[inline]
    pub fn first(&self) -> Option<(Time, usize)> {
        let first = *self.places.get(1)?;
        (first.at() < Time::MAX).then_some((first.at(), first.node()))
    }

    /// Whether something else is first, or nothing.
    pub fn first_is_not(&self, (at, node): (Time, usize)) -> bool {
        self.first() != Some((at, node))
    }

    /// The earliest instant of all nodes but `node`.
    #[inline]
    pub fn first_beside(&self, node: usize) -> Time {
        let mut place = self.width + node;
        let mut earliest = Entry::NEVER;
        while place > 1 {
            earliest = earliest.min(self.places[place ^ 1]);
            place /= 2;
        }
        earliest.at()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against the obvious model: a list searched for its minimum.
        #[test]
        fn the_first_is_the_earliest_and_of_equals_the_lowest(
            count in 1..20usize,
            steps in prop::collection::vec((0..20usize, 0..30u64), 1..200)
        ) {
            let mut due = Due::new();
            (0..count).for_each(|node| due.add(node));
            let mut model = vec![Time::MAX; count];
            for (node, at) in steps {
                let node = node % count;
                // One in thirty is never.
                let at = if at == 0 { Time::MAX } else { Time::from_ps(at) };
                due.set(node, at);
                model[node] = at;
                let entries = model.iter().copied().enumerate();
                let first = entries.clone().map(|(node, at)| (at, node)).min();
                prop_assert_eq!(due.first(), first.filter(|(at, _)| *at < Time::MAX));
                let others = entries.filter(|(other, _)| *other != node).map(|(_, at)| at);
                prop_assert_eq!(due.first_beside(node), others.min().unwrap_or(Time::MAX));
            }
        }
    }
}
