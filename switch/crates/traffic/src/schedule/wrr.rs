//! Weighted round robin: `weight` packets a turn, whatever their length.
//!
//! Simple and biased: with equal weights, 64-byte packets against 1500-byte packets get
//! 64 / 1564 = 4.1 % of the line. That is what DRR was invented for.

use super::ClassSet;
use crate::config::Member;

#[derive(Clone, Debug)]
pub(crate) struct Wrr {
    members: Vec<Turn>,
    /// Whose turn it is.
    current: usize,
    /// How many packets it may still send.
    left: u32,
}

#[derive(Clone, Debug)]
struct Turn {
    class: usize,
    weight: u32,
}

impl Wrr {
    pub fn new(members: &[Member]) -> Wrr {
        let members: Vec<Turn> = members
            .iter()
            .map(|member| Turn { class: member.class.index(), weight: member.weight })
            .collect();
        let left = members[0].weight;
        Wrr { members, current: 0, left }
    }

    /// The class that sends next; at least one is eligible. A class that has nothing to send at
    /// its turn loses the turn.
    pub fn choose(&mut self, eligible: ClassSet) -> usize {
        while self.left == 0 || !eligible.contains(self.members[self.current].class) {
            self.pass_turn();
        }
        self.members[self.current].class
    }

    /// Takes one packet off the current turn.
    pub fn charge(&mut self, class: usize, emptied: bool) {
        debug_assert_eq!(self.members[self.current].class, class, "only the chosen class sends");
        self.left -= 1;
        if emptied {
            self.pass_turn();
        }
    }

    fn pass_turn(&mut self) {
        self.current += 1;
        if self.current == self.members.len() {
            self.current = 0;
        }
        self.left = self.members[self.current].weight;
    }
}
