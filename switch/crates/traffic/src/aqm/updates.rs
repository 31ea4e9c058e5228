//! The regular updates of a controller that has no timer.
//!
//! Between two packets nothing changes but the time, so updates that fell due are made up for at the
//! next packet, each as of its own instant. After a long silence only the last ones are: by then a
//! controller has come to rest, and one that has not is better off without thousands of updates on
//! the strength of one measurement. So a packet never pays for more than [`MADE_UP_MAX`].

use units::{Span, Time};

/// The shortest interval. Shorter ones would cost more than the packets in between.
pub(super) const INTERVAL_MIN: Span = Span::from_us(10);

/// How many updates are made up for: 15 s of the Internet's 15 ms.
const MADE_UP_MAX: u64 = 1024;

#[derive(Clone, Debug)]
pub(super) struct Updates {
    interval: Span,
    next: Time,
}

impl Updates {
    /// The first update is due one interval after `now`.
    pub fn new(interval: Span, now: Time) -> Updates {
        Updates { interval, next: now.saturating_add(interval) }
    }

    /// The instants of the updates that are to be made now.
    pub fn due_by(&mut self, now: Time) -> impl Iterator<Item = Time> + use<> {
        let (first, interval) = (self.next, self.interval);
        let due = match now.ps().checked_sub(first.ps()) {
            Some(late) => late / interval.ps() + 1,
            None => 0,
        };
        self.next = first.saturating_add(interval * due);
        (due.saturating_sub(MADE_UP_MAX)..due).map(move |number| first + interval * number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    #[test]
    fn an_update_is_due_each_interval_and_made_once() {
        let mut updates = Updates::new(Span::from_us(15), Time::ZERO);
        assert_eq!(updates.due_by(us(14)).count(), 0);
        assert!(updates.due_by(us(45)).eq([us(15), us(30), us(45)]));
        assert_eq!(updates.due_by(us(59)).count(), 0);
        assert!(updates.due_by(us(60)).eq([us(60)]));
    }

    #[test]
    fn after_a_long_silence_only_the_last_updates_are_made() {
        let mut updates = Updates::new(Span::from_us(10), Time::ZERO);
        let made: Vec<Time> = updates.due_by(us(3_600_000_000)).collect();
        assert_eq!(made.len() as u64, MADE_UP_MAX);
        assert_eq!(made.last(), Some(&us(3_600_000_000)));
    }
}
