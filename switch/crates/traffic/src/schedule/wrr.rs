//! Weighted round robin: `weight` packets a turn, whatever their length.
//!
//! Simple and biased: with equal weights, 64-byte packets against 1500-byte packets get
//! 64 / 1564 = 4.1 % of the line. That is what DRR was invented for.

use units::Bytes;

use super::{ClassSet, Head, Heads, Share, Sharing};
use crate::credit::ShareState;

#[derive(Clone, Debug)]
pub(crate) struct Wrr {
    members: Vec<Turn>,
    /// The class whose turn it is.
    current: usize,
    /// How many packets it may still send.
    left: u32,
}

#[derive(Clone, Debug)]
struct Turn {
    class: usize,
    weight: u32,
}

impl Share for Wrr {
    fn new(sharing: &Sharing<'_>) -> Wrr {
        let members: Vec<Turn> = sharing
            .members
            .iter()
            .map(|member| Turn { class: member.class.index(), weight: member.weight })
            .collect();
        let left = members[0].weight;
        Wrr { members, current: 0, left }
    }

    /// A class that has nothing to send at its turn loses the turn.
    fn choose(&mut self, eligible: ClassSet, _heads: &Heads) -> usize {
        while self.left == 0 || !eligible.contains(self.members[self.current].class) {
            self.pass_turn();
        }
        self.members[self.current].class
    }

    fn handle_departure(&mut self, class: usize, _length: Bytes, emptied: bool) {
        debug_assert_eq!(self.members[self.current].class, class, "only the chosen class sends");
        self.left -= 1;
        if emptied {
            self.pass_turn();
        }
    }

    fn state(&self, class: usize, _head: Option<&Head>) -> Option<ShareState> {
        let place = self.members.iter().position(|turn| turn.class == class)?;
        let is_current = place == self.current;
        Some(ShareState::Wrr { left: if is_current { self.left } else { 0 }, is_current })
    }
}

impl Wrr {
    fn pass_turn(&mut self) {
        self.current += 1;
        if self.current == self.members.len() {
            self.current = 0;
        }
        self.left = self.members[self.current].weight;
    }
}
