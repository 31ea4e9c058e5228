//! Digests on their way to the controller: collected into lists, sent once, acknowledged.
//!
//! The specification's section "DigestEntry" as a synchronous state machine with time as an
//! argument. For each digest that is switched on:
//!
//! 1. a message that waits already, or was sent and is not acknowledged yet, is dropped;
//! 2. others wait until the list is as long as configured or the oldest has waited long enough;
//! 3. then the list is sent and remembered until it is acknowledged or the memory expires.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bits::Int;
use units::{Span, Time};

use crate::translate::change::DigestConfig;

/// The longest list, where the controller sets no limit or a higher one.
pub const LIST_SIZE_MAX: usize = 1024;

/// Messages that are remembered as sent, per digest. Older ones may be sent again, which the
/// specification allows; memory stays bounded when a controller never acknowledges.
const REMEMBERED_COUNT_MAX: usize = 16 * 1024;

/// The fields of one call of `digest` in the program, in order.
pub type Message = Vec<Int>;

/// A list that is ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// The digest's id in P4Info.
    pub digest_id: u32,
    /// The number by which the controller acknowledges it.
    pub list_id: u64,
    /// The messages, all different, in the order in which they came.
    pub messages: Vec<Message>,
}

/// All digests that are switched on.
#[derive(Debug, Default)]
pub struct Digests {
    of: BTreeMap<u32, Digest>,
}

#[derive(Debug)]
struct Digest {
    config: DigestConfig,
    waiting: Vec<Message>,
    /// When the first of `waiting` came; meaningless while it is empty.
    waiting_since: Time,
    /// Everything in `waiting` and `sent`, to recognise it.
    known: BTreeSet<Message>,
    /// Lists that are not acknowledged, oldest first.
    sent: VecDeque<Sent>,
    sent_count: usize,
    next_list_id: u64,
}

#[derive(Debug)]
struct Sent {
    list_id: u64,
    at: Time,
    /// Those that are not acknowledged one by one.
    messages: Vec<Option<Message>>,
}

impl Digests {
    /// How a digest is sent, if it is.
    pub fn config(&self, digest_id: u32) -> Option<DigestConfig> {
        self.of.get(&digest_id).map(|digest| digest.config)
    }

    /// Those that are switched on, in the order of ids.
    pub fn configs(&self) -> impl Iterator<Item = (u32, DigestConfig)> {
        self.of.iter().map(|(id, digest)| (*id, digest.config))
    }

    /// Switches a digest on, or changes how it is sent.
    pub fn configure(&mut self, digest_id: u32, config: DigestConfig) {
        let digest = self.of.entry(digest_id).or_insert_with(Digest::new);
        digest.config = config;
    }

    /// Switches a digest off; `false` if it was off.
    pub fn remove(&mut self, digest_id: u32) -> bool {
        self.of.remove(&digest_id).is_some()
    }

    /// The program sent a message; returns the list if that completes one.
    pub fn handle_message(&mut self, now: Time, digest_id: u32, message: Message) -> Option<List> {
        let digest = self.of.get_mut(&digest_id)?;
        digest.forget(now);
        if !digest.known.insert(message.clone()) {
            return None;
        }
        if digest.waiting.is_empty() {
            digest.waiting_since = now;
        }
        digest.waiting.push(message);
        (digest.waiting.len() >= digest.list_size()).then(|| digest.send(now, digest_id))
    }

    /// A controller has acted on a list. Unknown lists are harmless: they may have expired.
    pub fn handle_ack(&mut self, digest_id: u32, list_id: u64) {
        if let Some(digest) = self.of.get_mut(&digest_id) {
            let found = digest.sent.iter().position(|sent| sent.list_id == list_id);
            if let Some(sent) = found.and_then(|at| digest.sent.remove(at)) {
                digest.unlearn(sent);
            }
        }
    }

    /// Somebody has acted on one message of a list, by its place in it.
    pub fn handle_ack_of(&mut self, digest_id: u32, list_id: u64, place: usize) {
        let Some(digest) = self.of.get_mut(&digest_id) else { return };
        let Some(at) = digest.sent.iter().position(|sent| sent.list_id == list_id) else { return };
        let sent = &mut digest.sent[at];
        if let Some(message) = sent.messages.get_mut(place).and_then(Option::take) {
            digest.known.remove(&message);
            if sent.messages.iter().all(Option::is_none)
                && let Some(sent) = digest.sent.remove(at)
            {
                digest.unlearn(sent);
            }
        }
    }

    /// The next list whose oldest message has waited long enough at `now`.
    pub fn poll_list(&mut self, now: Time) -> Option<List> {
        let ready = |digest: &Digest| digest.due().is_some_and(|due| due <= now);
        let (id, digest) = self.of.iter_mut().find(|(_, digest)| ready(digest))?;
        digest.forget(now);
        Some(digest.send(now, *id))
    }

    /// When [`Self::poll_list`] will have something, if nothing comes before.
    pub fn next_due(&self) -> Option<Time> {
        self.of.values().filter_map(Digest::due).min()
    }
}

impl Digest {
    fn new() -> Self {
        Self {
            config: DigestConfig::default(),
            waiting: Vec::new(),
            waiting_since: Time::ZERO,
            known: BTreeSet::new(),
            sent: VecDeque::new(),
            sent_count: 0,
            next_list_id: 1,
        }
    }

    /// A timeout of 0 means that nothing waits.
    fn list_size(&self) -> usize {
        match (self.config.timeout_ns_max, self.config.list_size_max) {
            (0, _) => 1,
            (_, 0) => LIST_SIZE_MAX,
            (_, size) => LIST_SIZE_MAX.min(size as usize),
        }
    }

    fn due(&self) -> Option<Time> {
        let waits = span_of_ns(self.config.timeout_ns_max);
        (!self.waiting.is_empty()).then(|| self.waiting_since.saturating_add(waits))
    }

    fn send(&mut self, now: Time, digest_id: u32) -> List {
        let messages = std::mem::take(&mut self.waiting);
        let list_id = self.next_list_id;
        self.next_list_id += 1;
        let sent =
            Sent { list_id, at: now, messages: messages.iter().cloned().map(Some).collect() };
        self.sent_count += sent.messages.len();
        self.sent.push_back(sent);
        // An acknowledgement timeout of 0 means that nothing is remembered.
        self.forget(now);
        List { digest_id, list_id, messages }
    }

    /// Forgets lists whose acknowledgement is overdue, and the oldest if there are too many.
    fn forget(&mut self, now: Time) {
        let keeps = span_of_ns(self.config.ack_timeout_ns);
        while let Some(oldest) = self.sent.front() {
            let overdue = oldest.at.saturating_add(keeps) <= now;
            if !overdue && self.sent_count <= REMEMBERED_COUNT_MAX {
                break;
            }
            if let Some(sent) = self.sent.pop_front() {
                self.unlearn(sent);
            }
        }
    }

    fn unlearn(&mut self, sent: Sent) {
        self.sent_count -= sent.messages.len();
        for message in sent.messages.iter().flatten() {
            self.known.remove(message);
        }
    }
}

/// Spans end at 213 days; longer timeouts mean never as well.
fn span_of_ns(ns: u64) -> Span {
    Span::from_ps(ns.saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: u32 = 1;

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn message(value: u64) -> Message {
        vec![Int::from(value)]
    }

    /// Lists of up to three, waiting up to 10 ms, remembered for 100 ms.
    fn digests() -> Digests {
        let mut digests = Digests::default();
        let config = DigestConfig {
            timeout_ns_max: 10_000_000,
            list_size_max: 3,
            ack_timeout_ns: 100_000_000,
        };
        digests.configure(ID, config);
        digests
    }

    #[test]
    fn a_full_list_is_sent_at_once() {
        let mut digests = digests();
        assert_eq!(digests.handle_message(at_ms(0), ID, message(1)), None);
        assert_eq!(digests.handle_message(at_ms(1), ID, message(2)), None);
        let list = digests.handle_message(at_ms(2), ID, message(3)).unwrap();
        assert_eq!((list.list_id, list.messages), (1, vec![message(1), message(2), message(3)]));
        assert_eq!(digests.next_due(), None);
    }

    #[test]
    fn a_list_is_sent_when_its_first_message_has_waited_long_enough() {
        let mut digests = digests();
        let _ = digests.handle_message(at_ms(5), ID, message(1));
        let _ = digests.handle_message(at_ms(9), ID, message(2));
        assert_eq!(digests.next_due(), Some(at_ms(15)));
        assert_eq!(digests.poll_list(at_ms(14)), None);
        assert_eq!(digests.poll_list(at_ms(15)).unwrap().messages.len(), 2);
    }

    #[test]
    fn what_waits_or_is_not_acknowledged_is_not_sent_again() {
        let mut digests = digests();
        let _ = digests.handle_message(at_ms(0), ID, message(1));
        let _ = digests.handle_message(at_ms(1), ID, message(1));
        let list = digests.poll_list(at_ms(10)).unwrap();
        assert_eq!(list.messages, [message(1)]);
        let _ = digests.handle_message(at_ms(20), ID, message(1));
        assert_eq!(digests.next_due(), None, "it was sent at 10 ms and nobody acknowledged");
        digests.handle_ack(ID, list.list_id);
        let _ = digests.handle_message(at_ms(30), ID, message(1));
        assert_eq!(digests.next_due(), Some(at_ms(40)));
    }

    #[test]
    fn messages_of_a_list_can_be_acknowledged_one_by_one() {
        let mut digests = digests();
        for value in 1..=2 {
            let _ = digests.handle_message(at_ms(0), ID, message(value));
        }
        let list = digests.poll_list(at_ms(10)).unwrap();
        digests.handle_ack_of(ID, list.list_id, 1);
        digests.handle_ack_of(ID, list.list_id, 1);
        digests.handle_ack_of(ID, list.list_id, 7);
        for value in 1..=2 {
            let _ = digests.handle_message(at_ms(20), ID, message(value));
        }
        let again = digests.poll_list(at_ms(30)).unwrap();
        assert_eq!(again.messages, [message(2)], "the first is not acknowledged");
        // The list that is acknowledged as a whole does not forget what another one has sent since.
        digests.handle_ack(ID, list.list_id);
        let _ = digests.handle_message(at_ms(40), ID, message(2));
        assert_eq!(digests.next_due(), None);
    }

    #[test]
    fn after_the_acknowledgement_timeout_it_may_be_sent_again() {
        let mut digests = digests();
        let _ = digests.handle_message(at_ms(0), ID, message(1));
        let _ = digests.poll_list(at_ms(10));
        // Sent at 10 ms, remembered for 100 ms: forgotten at 110 ms.
        let _ = digests.handle_message(at_ms(109), ID, message(1));
        assert_eq!(digests.next_due(), None);
        let _ = digests.handle_message(at_ms(110), ID, message(1));
        assert_eq!(digests.next_due(), Some(at_ms(120)));
    }

    #[test]
    fn without_timeouts_every_message_is_a_list_of_its_own() {
        let mut digests = Digests::default();
        digests.configure(ID, DigestConfig::default());
        for list_id in 1..=2 {
            let list = digests.handle_message(at_ms(0), ID, message(7)).unwrap();
            assert_eq!(list, List { digest_id: ID, list_id, messages: vec![message(7)] });
        }
    }

    #[test]
    fn a_digest_that_is_off_sends_nothing() {
        let mut digests = digests();
        assert!(digests.remove(ID));
        assert!(!digests.remove(ID));
        assert_eq!(digests.handle_message(at_ms(0), ID, message(1)), None);
    }
}
