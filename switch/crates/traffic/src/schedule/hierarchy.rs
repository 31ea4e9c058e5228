//! A tree of classes with rate, ceil and borrowing, after Linux's HTB (Devera 2002).
//!
//! Every node has two token buckets, one for its rate and one for its ceil. A leaf may send
//!
//! * at its own expense while both its buckets are not in debt;
//! * else at the expense of the lowest ancestor whose rate is not in debt, if no node from the leaf
//!   up to that lender is in debt against its ceil.
//!
//! Leaves that pay for themselves go first, then those that borrow from the lowest lender; among
//! equals the higher priority, then rounds of `quantum` bytes. So guarantees are met before
//! anything is lent, and what is lent is shared by quantum.
//!
//! A packet is charged to the rates from the lender up and to the ceils of all nodes on the path.
//! Buckets may go into debt by one packet, as in HTB: a node exceeds its ceil by at most its burst
//! and one packet.

use units::{Bytes, CLASS_COUNT_MAX, Rate, Span, Time};

use super::ClassSet;
use crate::config::{HIERARCHY_DEPTH_MAX, NodeConfig, NodeKind};
use crate::credit::{NodeTokens, bytes_in};

#[derive(Clone, Debug)]
pub(crate) struct Hierarchy {
    /// Parents before children; the root is first.
    nodes: Vec<Node>,
    /// The leaf of each class.
    leaves: [Leaf; CLASS_COUNT_MAX],
    /// For each height of the lender: whose turn it is among equals, and their credit.
    turns: Vec<Turn>,
    /// The sending class and the lending node, as chosen last.
    chosen: Option<(usize, usize)>,
}

#[derive(Clone, Debug)]
struct Node {
    parent: Option<usize>,
    rate: Bucket,
    ceil: Bucket,
}

#[derive(Clone, Copy, Debug, Default)]
struct Leaf {
    node: usize,
    priority: u8,
    quantum: i64,
}

#[derive(Clone, Debug, Default)]
struct Turn {
    class: usize,
    credit: [i64; CLASS_COUNT_MAX],
}

/// A token bucket that may go into debt: see [`Shaper`](crate::shaper::Shaper) for its form.
#[derive(Clone, Debug)]
struct Bucket {
    rate: Rate,
    full_at: Time,
    depth: Span,
}

impl Hierarchy {
    pub fn new(root: &NodeConfig, now: Time) -> Hierarchy {
        let mut hierarchy = Hierarchy {
            nodes: Vec::new(),
            leaves: [Leaf::default(); CLASS_COUNT_MAX],
            turns: vec![Turn::default(); HIERARCHY_DEPTH_MAX],
            chosen: None,
        };
        hierarchy.add(root, None, now);
        hierarchy
    }

    fn add(&mut self, config: &NodeConfig, parent: Option<usize>, now: Time) {
        let node = self.nodes.len();
        self.nodes.push(Node {
            parent,
            rate: Bucket::new(config.rate, config.burst, now),
            ceil: Bucket::new(config.ceil, config.ceil_burst, now),
        });
        match &config.kind {
            NodeKind::Inner(children) => {
                children.iter().for_each(|child| self.add(child, Some(node), now));
            }
            NodeKind::Leaf { class, priority, quantum } => {
                let quantum = quantum.count().min(i64::MAX as u64 / 4) as i64;
                self.leaves[class.index()] = Leaf { node, priority: *priority, quantum };
            }
        }
    }

    /// The earliest instant at which `class` may send, at whosever expense.
    pub fn ready_at(&self, class: usize) -> Time {
        self.offers(class).map(|(_, _, from)| from).min().unwrap_or(Time::MAX)
    }

    /// The nodes that could pay for `class`: `(height above the leaf, node, from when on)`.
    fn offers(&self, class: usize) -> impl Iterator<Item = (usize, usize, Time)> + '_ {
        let mut next = Some(self.leaves[class].node);
        let mut ceils_from = Time::ZERO;
        let mut height = 0;
        std::iter::from_fn(move || {
            let index = next?;
            let node = &self.nodes[index];
            next = node.parent;
            ceils_from = ceils_from.max(node.ceil.out_of_debt_at());
            let offer = (height, index, ceils_from.max(node.rate.out_of_debt_at()));
            height += 1;
            Some(offer)
        })
    }

    /// The lowest lender of `class` at `at`: its height and its node.
    fn lender(&self, class: usize, at: Time) -> Option<(usize, usize)> {
        let mut offers = self.offers(class);
        offers.find(|(_, _, from)| *from <= at).map(|(height, node, _)| (height, node))
    }

    /// The class that sends at `at`; every eligible class is ready by then.
    pub fn choose(&mut self, at: Time, eligible: ClassSet) -> Option<usize> {
        // Lower lenders first, then higher priorities.
        let rank = |class: usize| {
            let (height, _) = self.lender(class, at)?;
            Some((height, u8::MAX - self.leaves[class].priority))
        };
        let best = eligible.iter().filter_map(rank).min()?;
        let mut equals = ClassSet::default();
        eligible.iter().filter(|class| rank(*class) == Some(best)).for_each(|c| equals.insert(c));
        let class = self.turns[best.0].next(equals, &self.leaves);
        let (_, lender) = self.lender(class, at)?;
        self.chosen = Some((best.0, lender));
        Some(class)
    }

    /// Charges a packet of the class chosen last.
    pub fn charge(&mut self, at: Time, class: usize, length: Bytes, emptied: bool) {
        let Some((height, lender)) = self.chosen.take() else { return };
        let mut next = Some(self.leaves[class].node);
        let mut lent = false;
        while let Some(index) = next {
            let node = &mut self.nodes[index];
            lent |= index == lender;
            if lent {
                node.rate.charge(at, length);
            }
            node.ceil.charge(at, length);
            next = node.parent;
        }
        self.turns[height].charge(class, length);
        if emptied {
            self.forget(class);
        }
    }

    /// An idle class keeps no credit and no debt towards its equals.
    pub fn forget(&mut self, class: usize) {
        self.turns.iter_mut().for_each(|turn| turn.credit[class] = 0);
    }

    /// The tokens in the nodes' buckets at `now`, parents before children.
    pub fn tokens(&self, now: Time) -> Vec<NodeTokens> {
        let tokens =
            |node: &Node| NodeTokens { rate: node.rate.tokens(now), ceil: node.ceil.tokens(now) };
        self.nodes.iter().map(tokens).collect()
    }
}

impl Turn {
    /// The first of `equals`, from the one whose turn it is, that is not in debt. If all are,
    /// rounds are granted until one is not: all at once, so that small quanta cost no extra time.
    fn next(&mut self, equals: ClassSet, leaves: &[Leaf]) -> usize {
        loop {
            for step in 0..CLASS_COUNT_MAX {
                let class = (self.class + step) % CLASS_COUNT_MAX;
                if equals.contains(class) && self.credit[class] >= 0 {
                    self.class = class;
                    return class;
                }
            }
            let rounds_of = |class: usize| {
                let debt = -self.credit[class];
                (debt + leaves[class].quantum - 1) / leaves[class].quantum
            };
            let rounds = equals.iter().map(rounds_of).min().unwrap_or(1).max(1);
            for class in equals.iter() {
                self.credit[class] += leaves[class].quantum * rounds;
            }
        }
    }

    fn charge(&mut self, class: usize, length: Bytes) {
        self.credit[class] -= length.count() as i64;
        if self.credit[class] < 0 {
            self.class = (class + 1) % CLASS_COUNT_MAX;
        }
    }
}

impl Bucket {
    fn new(rate: Rate, burst: Bytes, now: Time) -> Bucket {
        Bucket { rate, full_at: now, depth: rate.span_of(burst) }
    }

    /// From when on the bucket holds no debt.
    fn out_of_debt_at(&self) -> Time {
        Time::from_ps(self.full_at.ps().saturating_sub(self.depth.ps()))
    }

    /// Bytes that it holds at `now`; below zero it is in debt.
    fn tokens(&self, now: Time) -> i64 {
        let missing_ps = i128::from(self.full_at.since(now).ps());
        bytes_in(self.rate, i128::from(self.depth.ps()) - missing_ps)
    }

    fn charge(&mut self, at: Time, length: Bytes) {
        self.full_at = self.full_at.max(at).saturating_add(self.rate.span_of(length));
    }
}
