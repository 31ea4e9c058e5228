//! One budget for the memory of everything that clients and programs can make, cut into parts.
//!
//! Code that keeps something for a client takes its size from the [`Budget`] as a [`Share`] and
//! keeps the share beside it; dropped, the share gives the memory back. Sizes are estimates that
//! err upwards; the process's own code and threads are not counted.
//!
//! Each [`Purpose`] has a part of its own, cut once, and none lends to another. So a client that
//! fills one leaves all others alone: full tables do not prevent another client from emptying them,
//! and a flood of requests takes no entry's place.
//!
//! ```text
//!   --memory  ├ packets ┤├ programs ┤├── entries ──┤├ requests ┤├ answers ┤├ others' ┤
//! ```
//!
//! Within a part, a client with known usage gets no more once it has more than is free: one client
//! takes nearly half, two nearly a third each. However many clients there are, each finds a little:
//! an eighth of the part is reserved for the beginnings of [`OWNER_COUNT`] clients.
//!
//! A budget counts, and nothing else: it allocates nothing and asks no allocator.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Bytes;

/// A use of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Answers that clients have not taken yet.
    Answers,
    /// Connections, and open calls with their short messages.
    Calls,
    /// Entries, members and groups, and what finds them.
    Entries,
    /// Packets in queues and on lines.
    Packets,
    /// Loaded programs with their arrays.
    Programs,
    /// Packet-ins, digests and errors that controllers have not taken yet.
    Reports,
    /// Requests that are read or carried out.
    Requests,
    /// Events that watchers and tracers have not taken yet.
    Watchers,
}

/// The facts about a purpose.
#[derive(Clone, Copy, Debug)]
struct Terms {
    purpose: Purpose,
    words: &'static str,
    /// Its share, in [`PARTS`], of the memory that is not for packets.
    parts: u64,
    /// Advice for a client that finds no room.
    advice: &'static str,
}

/// So many clients have something of their own in a part, whatever others take.
const OWNER_COUNT: u64 = 256;

/// In how many parts the budget is cut beside what is for packets.
const PARTS: u64 = 24;

/// All purposes, in the order of their numbers.
const TERMS: [Terms; 8] = {
    use Purpose::*;
    const fn row(purpose: Purpose, words: &'static str, parts: u64, advice: &'static str) -> Terms {
        Terms { purpose, words, parts, advice }
    }
    [
        row(Answers, "answers that clients have not taken", 3, "take those first, or ask for less"),
        row(Calls, "connections and open calls", 4, "end others"),
        row(Entries, "entries, members and groups", 7, "remove some"),
        row(Packets, "packets", 0, "give packets more with --packet-memory"),
        row(Programs, "programs and their arrays", 5, "load one with smaller arrays"),
        row(Reports, "reports that controllers have not taken", 1, "read faster"),
        row(Requests, "requests", 3, "send it again when others are done, or in smaller parts"),
        row(Watchers, "what watchers have not taken", 1, "watch less, or read faster"),
    ]
};

#[derive(Debug, Default)]
struct Part {
    limit_bytes: u64,
    taken_bytes: AtomicU64,
}

#[derive(Debug)]
struct Accounts {
    all_bytes: u64,
    parts: [Part; TERMS.len()],
}

/// How much memory there is; all copies are of one budget. It lives as long as the process, which is
/// what it bounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget(Option<&'static Accounts>);

/// Something of a part, as long as it lives. A clone takes as much once more, whether there is room or
/// not: who copies has the copy already.
#[derive(Debug)]
pub struct Share {
    budget: Budget,
    purpose: Purpose,
    bytes: u64,
    owner: Option<Owner>,
}

/// One client's usage of each part; all copies belong to one client.
#[derive(Clone, Debug, Default)]
pub struct Owner(Arc<[AtomicU64; TERMS.len()]>);

/// There was not enough left of a part; its words are for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhausted(String);

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Exhausted {}

impl Budget {
    /// No limit. For processes that serve only their owner.
    pub const UNLIMITED: Budget = Budget(None);

    /// A budget of `all` bytes, of which `packets` are for packets.
    pub fn new(all: Bytes, packets: Bytes) -> Budget {
        let rest = all.0.saturating_sub(packets.0);
        let limit = |terms: Terms| match terms.purpose {
            Purpose::Packets => packets.0,
            _ => rest / PARTS * terms.parts,
        };
        let parts = TERMS.map(|terms| Part { limit_bytes: limit(terms), ..Part::default() });
        Budget(Some(Box::leak(Box::new(Accounts { all_bytes: all.0, parts }))))
    }

    /// How much there is for a purpose.
    pub fn limit(self, purpose: Purpose) -> Bytes {
        Bytes(self.0.map_or(u64::MAX, |accounts| accounts.part(purpose).limit_bytes))
    }

    /// How much of that is taken.
    pub fn taken(self, purpose: Purpose) -> Bytes {
        let taken =
            |accounts: &Accounts| accounts.part(purpose).taken_bytes.load(Ordering::Relaxed);
        Bytes(self.0.map_or(0, taken))
    }

    /// Each purpose in words, and how much there is for it.
    pub fn rows(self) -> impl Iterator<Item = (Purpose, &'static str, Bytes)> {
        TERMS.iter().map(move |it| (it.purpose, it.words, self.limit(it.purpose)))
    }

    /// A share of nothing, which may grow.
    pub fn share(self, purpose: Purpose) -> Share {
        Share { budget: self, purpose, bytes: 0, owner: None }
    }

    /// A share of nothing for this client, which may grow as long as the client has no more than is
    /// free.
    pub fn share_of(self, purpose: Purpose, owner: &Owner) -> Share {
        Share { owner: Some(owner.clone()), ..self.share(purpose) }
    }

    /// A share of `bytes` bytes.
    pub fn take(self, purpose: Purpose, bytes: u64) -> Result<Share, Exhausted> {
        let mut share = self.share(purpose);
        share.set(bytes)?;
        Ok(share)
    }
}

impl Accounts {
    fn part(&self, purpose: Purpose) -> &Part {
        &self.parts[purpose as usize]
    }

    fn exhausted(&self, purpose: Purpose, wanted: u64, taken: u64, own: u64) -> Exhausted {
        let Terms { words, advice, .. } = TERMS[purpose as usize];
        let limit = self.part(purpose).limit_bytes;
        let own = match own {
            0 => String::new(),
            _ => format!(
                ", of which this client has {} and gets no more than others",
                mebibytes(own)
            ),
        };
        Exhausted(format!(
            "no memory is left for {words}: this takes {} MiB more, and {} of {} are free{own}; \
             {advice}, or start the switch with more than --memory {}",
            mebibytes(wanted),
            mebibytes(limit.saturating_sub(taken)),
            mebibytes(limit),
            self.all_bytes >> 20,
        ))
    }
}

/// In MiB, with as many digits as say something.
fn mebibytes(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10).div_ceil(1 << 20);
    match (tenths / 10, tenths % 10) {
        (whole, 0) => whole.to_string(),
        (whole @ 10.., _) => whole.to_string(),
        (whole, tenth) => format!("{whole}.{tenth}"),
    }
}

/// A growing share takes up to this much more than it needs, so that it need not ask for every few
/// bytes.
const STEP_BYTES: u64 = 4 << 10;

impl Share {
    /// How much it is.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sets its size, if there is room; otherwise it stays as it was.
    pub fn set(&mut self, bytes: u64) -> Result<(), Exhausted> {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.add(more)?,
            None => self.give_back(self.bytes - bytes),
        }
        self.bytes = bytes;
        Ok(())
    }

    /// So much more, if that can be had.
    pub fn grow(&mut self, more: u64) -> Result<(), Exhausted> {
        self.set(self.bytes.saturating_add(more))
    }

    /// Grows it to at least this size, in steps; it never shrinks.
    #[inline]
    pub fn cover(&mut self, bytes: u64) -> Result<(), Exhausted> {
        if bytes <= self.bytes {
            return Ok(());
        }
        self.set(bytes.div_ceil(STEP_BYTES).saturating_mul(STEP_BYTES))
    }

    /// Shrinks it to at most this size.
    pub fn shrink(&mut self, bytes: u64) {
        if let Some(less) = self.bytes.checked_sub(bytes) {
            self.give_back(less);
            self.bytes = bytes;
        }
    }

    fn add(&self, more: u64) -> Result<(), Exhausted> {
        let Some(accounts) = self.budget.0 else { return Ok(()) };
        let part = accounts.part(self.purpose);
        let own = self.own().map_or(0, |own| own.load(Ordering::Relaxed));
        let own_then = own.saturating_add(more);
        let kept = part.limit_bytes / 8;
        // The space that must be free afterwards: as much as the client has then, besides the
        // beginnings of others.
        let left = match self.owner {
            Some(_) if own_then > kept / OWNER_COUNT => own_then.saturating_add(kept),
            _ => 0,
        };
        let grown = |taken: u64| {
            let taken = taken.checked_add(more)?;
            (taken.saturating_add(left) <= part.limit_bytes).then_some(taken)
        };
        let added = part.taken_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown);
        let _before = added.map_err(|taken| accounts.exhausted(self.purpose, more, taken, own))?;
        if let Some(own) = self.own() {
            own.fetch_add(more, Ordering::Relaxed);
        }
        Ok(())
    }

    fn give_back(&self, less: u64) {
        let Some(accounts) = self.budget.0 else { return };
        accounts.part(self.purpose).taken_bytes.fetch_sub(less, Ordering::Relaxed);
        if let Some(own) = self.own() {
            own.fetch_sub(less, Ordering::Relaxed);
        }
    }

    fn own(&self) -> Option<&AtomicU64> {
        self.owner.as_ref().map(|owner| &owner.0[self.purpose as usize])
    }
}

impl Default for Share {
    /// A share of nothing, of a budget without bound.
    fn default() -> Share {
        Budget::UNLIMITED.share(Purpose::Programs)
    }
}

impl Clone for Share {
    fn clone(&self) -> Share {
        if let Some(accounts) = self.budget.0 {
            accounts.part(self.purpose).taken_bytes.fetch_add(self.bytes, Ordering::Relaxed);
        }
        if let Some(own) = self.own() {
            own.fetch_add(self.bytes, Ordering::Relaxed);
        }
        Share { owner: self.owner.clone(), ..*self }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// 64 MiB, of which packets have 16 and the others two for each of their parts.
    fn budget() -> Budget {
        Budget::new(Bytes(64 * MIB), Bytes(16 * MIB))
    }

    #[test]
    fn what_is_taken_is_given_back_with_its_share() {
        let budget = budget();
        let first = budget.take(Purpose::Requests, 5 * MIB).expect("there are six");
        assert_eq!(budget.taken(Purpose::Requests), Bytes(5 * MIB));
        let copy = first.clone();
        assert_eq!(budget.taken(Purpose::Requests), Bytes(10 * MIB), "a copy is there already");
        drop((first, copy));
        assert_eq!(budget.taken(Purpose::Requests), Bytes(0));
        assert!(Budget::UNLIMITED.take(Purpose::Entries, u64::MAX).is_ok());
    }

    #[test]
    fn the_parts_make_up_the_whole_and_each_stands_where_its_number_says() {
        assert!(TERMS.iter().enumerate().all(|(at, terms)| terms.purpose as usize == at));
        assert_eq!(TERMS.iter().map(|terms| terms.parts).sum::<u64>(), PARTS);
        let limits = budget().rows().map(|(_, _, limit)| limit.0);
        assert_eq!(limits.sum::<u64>(), 64 * MIB);
    }

    #[test]
    fn who_fills_a_part_leaves_the_others_alone() {
        let budget = budget();
        let _full = budget.take(Purpose::Entries, 14 * MIB).expect("all of its part");
        assert!(budget.take(Purpose::Entries, 1).is_err());
        for purpose in TERMS.map(|terms| terms.purpose) {
            let all = budget.limit(purpose).0;
            let is_free = budget.take(purpose, all).is_ok();
            assert_eq!(is_free, purpose != Purpose::Entries, "{purpose:?}");
        }
    }

    #[test]
    fn who_is_refused_hears_how_much_there_is_and_what_to_do() {
        let budget = budget();
        let _entries = budget.take(Purpose::Entries, 6 * MIB + MIB / 2);
        let refused = budget.take(Purpose::Entries, 9 * MIB).expect_err("there are 14");
        assert_eq!(
            refused.to_string(),
            "no memory is left for entries, members and groups: this takes 9 MiB more, and 7.5 of \
             14 are free; remove some, or start the switch with more than --memory 64"
        );
    }

    #[test]
    fn a_client_gets_no_more_once_it_has_more_than_is_free() {
        let budget = budget();
        let all = budget.limit(Purpose::Requests).0;
        let fill = |owner: &Owner| {
            let mut share = budget.share_of(Purpose::Requests, owner);
            while share.grow(4 << 10).is_ok() {}
            share
        };
        let (first, second) = (Owner::default(), Owner::default());
        let most = fill(&first);
        assert_eq!(most.bytes(), all / 16 * 7, "half, beside what others begin with");
        assert_eq!(fill(&first).bytes(), 0, "it has as much as is free, in whatever shares");
        let half_of_that = fill(&second);
        assert_eq!(half_of_that.bytes(), all / 32 * 7);
        drop(most);
        assert_eq!(fill(&second).bytes(), all / 32 * 7, "as much as the first had, in all");
        drop(half_of_that);
        assert_eq!(budget.taken(Purpose::Requests), Bytes(0));
    }

    #[test]
    fn however_many_take_what_they_can_who_comes_finds_a_little() {
        let budget = budget();
        let limit = budget.limit(Purpose::Requests).0;
        let little = limit / 8 / OWNER_COUNT;
        let greedy: Vec<Share> = (0..OWNER_COUNT - 1)
            .map(|_| {
                let mut share = budget.share_of(Purpose::Requests, &Owner::default());
                while share.grow(512).is_ok() {}
                assert!(share.bytes() >= little);
                share
            })
            .collect();
        let mut late = budget.share_of(Purpose::Requests, &Owner::default());
        late.grow(little).expect("it has nothing yet");
        assert!(late.grow(1).is_err());
        assert!(budget.taken(Purpose::Requests).0 <= limit);
        drop(greedy);
    }

    #[test]
    fn a_share_follows_what_is_kept_in_steps_and_stays_as_it_was_when_refused() {
        let budget = budget();
        let mut share = budget.share(Purpose::Calls);
        share.cover(1).expect("there is room");
        assert_eq!(share.bytes(), 4 << 10);
        share.cover(9 << 10).expect("there is room");
        share.cover(1).expect("it has that");
        assert_eq!(share.bytes(), 12 << 10, "what is covered stays");
        assert!(share.cover(9 * MIB).is_err());
        assert_eq!(share.bytes(), 12 << 10);
        share.shrink(5);
        share.shrink(6 << 10);
        assert_eq!((share.bytes(), budget.taken(Purpose::Calls)), (5, Bytes(5)));
    }
}
