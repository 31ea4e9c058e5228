//! P4Runtime's promises about digests (section "DigestEntry"), as simply as possible: a message
//! that waits or is not acknowledged is not repeated, lists are sent when they are full or have
//! waited.

use std::collections::BTreeMap;

use units::{Span, Time};

pub const LIST_SIZE_MAX: i32 = 2;
pub const TIMEOUT: Span = Span::from_ms(3);
pub const ACK_TIMEOUT: Span = Span::from_ms(10);

/// One digest that is switched on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learning {
    /// The waiting messages, each with its instant.
    waiting: Vec<(Time, u8)>,
    /// The messages sent and not acknowledged, with their instants, by the list's number.
    sent: BTreeMap<u64, (Time, Vec<u8>)>,
    list_count: u64,
}

impl Learning {
    /// The program says something; returns the list that is full with it.
    pub fn hear(&mut self, now: Time, message: u8) -> Option<(u64, Vec<u8>)> {
        self.sent.retain(|_, (at, _)| *at + ACK_TIMEOUT > now);
        let is_sent = self.sent.values().any(|(_, messages)| messages.contains(&message));
        if is_sent || self.waiting.iter().any(|(_, waits)| *waits == message) {
            return None;
        }
        self.waiting.push((now, message));
        (self.waiting.len() == LIST_SIZE_MAX as usize).then(|| self.send(now))
    }

    /// The list that has waited long enough.
    pub fn poll(&mut self, now: Time) -> Option<(u64, Vec<u8>)> {
        let first = self.waiting.first()?.0;
        (first + TIMEOUT <= now).then(|| self.send(now))
    }

    pub fn acknowledge(&mut self, list: u64) {
        self.sent.remove(&list);
    }

    fn send(&mut self, now: Time) -> (u64, Vec<u8>) {
        let messages: Vec<u8> = self.waiting.drain(..).map(|(_, message)| message).collect();
        self.list_count += 1;
        self.sent.insert(self.list_count, (now, messages.clone()));
        (self.list_count, messages)
    }
}
