//! The event heap of an experiment.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Time;

/// Future events, earliest first; events of one instant come in the order they were noted.
#[derive(Debug)]
pub struct Agenda<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    noted: u64,
}

#[derive(Debug)]
struct Entry<E> {
    at: Time,
    /// The number of the note; makes the order of one instant the order of noting.
    number: u64,
    event: E,
}

impl<E> Agenda<E> {
    /// Nothing is to happen.
    pub fn new() -> Agenda<E> {
        Agenda { heap: BinaryHeap::new(), noted: 0 }
    }

    /// Notes that `event` happens at `at`.
    pub fn note(&mut self, at: Time, event: E) {
        self.heap.push(Reverse(Entry { at, number: self.noted, event }));
        self.noted += 1;
    }

    /// When the next event happens.
    pub fn next_due(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// Takes the next event off, with its instant.
    pub fn take(&mut self) -> Option<(Time, E)> {
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.event))
    }
}

impl<E> Default for Agenda<E> {
    fn default() -> Agenda<E> {
        Agenda::new()
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Entry<E>) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Entry<E>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Entry<E>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<E> Eq for Entry<E> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_instant_and_then_in_the_order_noted() {
        let mut agenda = Agenda::new();
        for (at, event) in [(20, 'c'), (10, 'a'), (20, 'd'), (10, 'b')] {
            agenda.note(Time::from_ps(at), event);
        }
        assert_eq!(agenda.next_due(), Some(Time::from_ps(10)));
        let order: String = std::iter::from_fn(|| agenda.take()).map(|(_, event)| event).collect();
        assert_eq!(order, "abcd");
    }
}
