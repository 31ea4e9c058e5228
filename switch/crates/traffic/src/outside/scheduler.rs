//! Turns from outside.

use units::Time;

use super::{Guest, SchedulerOutside, remembered};
use crate::schedule::{ClassSet, Heads};

/// The classes that may send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnQuestion {
    /// When.
    pub at: Time,
    /// `(class, bytes of its first packet)` of each class that may send.
    pub heads: Vec<(usize, u64)>,
}

impl Guest<dyn SchedulerOutside> {
    /// A packet entered the queue of `class`.
    pub fn handle_enqueue(&mut self, at: Time, class: usize, bytes: u64) {
        if self.fault.is_none() {
            self.decider.handle_enqueue(at, class, bytes);
        }
    }

    /// The class that sends at `at`; `own` is the choice of the router's scheduler, if it decided
    /// too.
    pub fn choose(
        &mut self,
        at: Time,
        eligible: ClassSet,
        heads: &Heads,
        own: Option<usize>,
    ) -> Option<usize> {
        let lowest = eligible.iter().next()?;
        let heads = eligible.iter().map(|class| (class, heads[class].length.count()));
        let question = TurnQuestion { at, heads: heads.collect() };
        let decide = |decider: &mut (dyn SchedulerOutside + 'static)| {
            let class = decider.decide(&question)?;
            if !question.heads.iter().any(|(each, _)| *each == class) {
                return Err(format!("class {class} has no packet that may be sent"));
            }
            match own.filter(|own| *own != class) {
                Some(own) => Err(format!(
                    "it chose class {class}, where the built-in one chooses {own}{}",
                    remembered(&decider.state())
                )),
                None => Ok(class),
            }
        };
        let asked = || {
            let heads = question.heads.iter();
            let heads: Vec<String> =
                heads.map(|(class, bytes)| format!("class {class} with {bytes} bytes")).collect();
            heads.join(", ")
        };
        Some(self.ask(at, decide, asked).unwrap_or(lowest))
    }

    /// Whether the router's own scheduler goes on beside this one: only where it is compared, and
    /// only while both decide the same.
    pub fn is_beside_own(&self) -> bool {
        self.compared && self.fault.is_none()
    }

    /// The first packet of `class` was dropped.
    pub fn handle_drop(&mut self, class: usize, bytes: u64, emptied: bool) {
        if self.fault.is_none() {
            self.decider.handle_drop(class, bytes, emptied);
        }
    }

    /// `class`, as chosen, sent a packet.
    pub fn handle_departure(&mut self, class: usize, bytes: u64, emptied: bool) {
        if self.fault.is_none() {
            self.decider.handle_departure(class, bytes, emptied);
        }
    }
}
