//! Deficit round robin (Shreedhar and Varghese, "Efficient fair queueing using deficit round
//! robin", 1995).
//!
//! Each class on its turn is granted weight x quantum bytes on top of the rest of its last grant,
//! and sends while that covers its first packet. While two classes stay backlogged, the bytes they
//! sent, each divided by its weight, differ by at most quantum + 2 x the longest packet.
//!
//! A class that may not send at its turn (its own shaper holds it back) is passed over and keeps
//! what it has; a class whose queue runs empty loses it.

use units::Bytes;

use super::{ClassSet, Head, Heads, Share, Sharing};
use crate::config::PortConfig;
use crate::credit::ShareState;

#[derive(Clone, Debug)]
pub(crate) struct Drr {
    members: Vec<Turn>,
    /// The class whose turn it is.
    current: usize,
    /// Whether the current member has had the grant of this turn.
    granted: bool,
}

#[derive(Clone, Debug)]
struct Turn {
    class: usize,
    /// Bytes granted each turn.
    grant: i64,
    /// Bytes granted and not yet used. Below zero only after AQM replaced the packet this class
    /// was chosen for by a longer one.
    deficit: i64,
}

impl Share for Drr {
    fn check(
        quantum: Option<Bytes>,
        _port: &PortConfig,
    ) -> Result<(), (&'static str, &'static str)> {
        match quantum {
            Some(Bytes(0)) => Err((
                "a quantum of 0 bytes would never send",
                "use the longest packet's length, such as 1514",
            )),
            _ => Ok(()),
        }
    }

    fn new(sharing: &Sharing<'_>) -> Drr {
        let grant = |weight: u32| {
            let bytes = sharing.quantum.count().saturating_mul(u64::from(weight));
            i64::try_from(bytes).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
        };
        let members = sharing
            .members
            .iter()
            .map(|member| Turn {
                class: member.class.index(),
                grant: grant(member.weight),
                deficit: 0,
            })
            .collect();
        Drr { members, current: 0, granted: false }
    }

    /// 1. One round: grant and test each eligible member in turn, the current one first.
    /// 2. If none can send, every further full round only adds grants. Add as many rounds at once
    ///    as leave one more to go, then do that one. So small quanta cost no extra time.
    fn choose(&mut self, eligible: ClassSet, heads: &Heads) -> usize {
        loop {
            if let Some(class) = self.round(eligible, heads) {
                return class;
            }
            let rounds = self
                .members
                .iter()
                .filter(|turn| eligible.contains(turn.class))
                .map(|turn| (turn.missing(heads) - 1).div_euclid(turn.grant))
                .min()
                .unwrap_or(0);
            for turn in self.members.iter_mut().filter(|turn| eligible.contains(turn.class)) {
                turn.deficit += turn.grant * rounds;
            }
        }
    }

    fn handle_departure(&mut self, class: usize, length: Bytes, emptied: bool) {
        // The class was chosen, so it is the current member.
        let turn = &mut self.members[self.current];
        debug_assert_eq!(turn.class, class, "only the chosen class sends");
        turn.deficit -= length.count() as i64;
        if emptied {
            turn.deficit = 0;
            self.pass_turn();
        }
    }

    /// An idle class keeps no credit.
    fn handle_emptied(&mut self, class: usize) {
        if self.members[self.current].class == class {
            self.pass_turn();
        }
        if let Some(turn) = self.members.iter_mut().find(|turn| turn.class == class) {
            turn.deficit = 0;
        }
    }

    fn state(&self, class: usize, _head: Option<&Head>) -> Option<ShareState> {
        let place = self.members.iter().position(|turn| turn.class == class)?;
        let is_current = place == self.current;
        Some(ShareState::Drr { deficit: self.members[place].deficit, is_current })
    }
}

impl Drr {
    /// Goes once around, beginning and ending with the current member.
    fn round(&mut self, eligible: ClassSet, heads: &Heads) -> Option<usize> {
        for _ in 0..=self.members.len() {
            let turn = &mut self.members[self.current];
            if eligible.contains(turn.class) {
                if !self.granted {
                    // A class with a huge grant that is passed over again and again has enough.
                    turn.deficit = turn.deficit.saturating_add(turn.grant);
                    self.granted = true;
                }
                if turn.missing(heads) <= 0 {
                    return Some(turn.class);
                }
            }
            self.pass_turn();
        }
        None
    }

    fn pass_turn(&mut self) {
        self.current += 1;
        if self.current == self.members.len() {
            self.current = 0;
        }
        self.granted = false;
    }
}

impl Turn {
    /// How many bytes of credit the class lacks to send its first packet.
    fn missing(&self, heads: &Heads) -> i64 {
        heads[self.class].length.count() as i64 - self.deficit
    }
}
