//! Who is served next: strict priority between groups with a discipline inside each, or a tree of
//! classes.
//!
//! A scheduler is asked only when the port is free, with the classes that may send at that instant
//! and the first packet of each. It keeps no list of its own of what waits, so a change of
//! configuration, a drop at the head or a queue's own shaper cannot get it out of step.
//! Each discipline has a file.

mod drr;
mod hierarchy;
mod wfq;
mod wrr;

use units::{Bytes, CLASS_COUNT_MAX, Rate, Time};

use crate::config::{Discipline, GroupConfig, SchedulerConfig};

use drr::Drr;
use hierarchy::Hierarchy;
use wfq::Wfq;
use wrr::Wrr;

/// A set of classes as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassSet(u8);

impl ClassSet {
    pub fn insert(&mut self, class: usize) {
        self.0 |= 1 << class;
    }

    pub fn remove(&mut self, class: usize) {
        self.0 &= !(1 << class);
    }

    #[inline]
    pub fn contains(self, class: usize) -> bool {
        self.0 & (1 << class) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The highest member.
    #[inline]
    fn highest(self) -> Option<usize> {
        7usize.checked_sub(self.0.leading_zeros() as usize)
    }

    pub fn intersection(self, other: ClassSet) -> ClassSet {
        ClassSet(self.0 & other.0)
    }

    /// The members from the highest class down.
    #[inline]
    pub fn iter_down(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let class = ClassSet(rest).highest()?;
            rest &= !(1 << class);
            Some(class)
        })
    }

    /// The members from the lowest class up.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let class = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            (class < 8).then_some(class)
        })
    }
}

/// The first packet of a queue, as far as a scheduler needs to know it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Head {
    pub length: Bytes,
    pub enqueued_at: Time,
    pub tag: u64,
}

/// The first packets of a port's queues; those of empty queues mean nothing.
pub(crate) type Heads = [Head; CLASS_COUNT_MAX];

/// A port's scheduler in action.
#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    /// The first that has a packet to send is served.
    groups: Vec<Group>,
    /// Instead of groups.
    hierarchy: Option<Hierarchy>,
    /// Whether any group tags packets on arrival.
    tags: bool,
    /// Each class has a group by itself and a higher one goes first, as is usual: then the set of
    /// those that may send says all, and no group need be asked or told.
    highest_first: bool,
}

#[derive(Clone, Debug)]
struct Group {
    members: ClassSet,
    rule: Rule,
}

#[derive(Clone, Debug)]
enum Rule {
    /// Only one member: nothing to decide.
    Alone(usize),
    Drr(Drr),
    Wrr(Wrr),
    Wfq(Wfq),
}

impl Scheduler {
    /// A scheduler for a port whose line runs at `line_rate`.
    pub fn new(config: &SchedulerConfig, line_rate: Option<Rate>, now: Time) -> Scheduler {
        match config {
            SchedulerConfig::Groups(groups) => {
                let groups: Vec<Group> =
                    groups.iter().map(|group| Group::new(group, line_rate, now)).collect();
                let tags = groups.iter().any(|group| matches!(group.rule, Rule::Wfq(_)));
                let alone = groups.iter().map(|group| match group.rule {
                    Rule::Alone(class) => Some(class),
                    _ => None,
                });
                let highest_first = alone.clone().all(|class| class.is_some())
                    && alone.is_sorted_by(|before, after| before > after);
                Scheduler { groups, hierarchy: None, tags, highest_first }
            }
            SchedulerConfig::Hierarchy(root) => {
                let hierarchy = Some(Hierarchy::new(root, now));
                Scheduler { groups: Vec::new(), hierarchy, tags: false, highest_first: false }
            }
        }
    }

    /// Whether the highest class that may send does, and nothing is remembered of it.
    pub fn is_strict(&self) -> bool {
        self.highest_first
    }

    /// Whether the scheduler itself can make a class wait.
    pub fn has_rates(&self) -> bool {
        self.hierarchy.is_some()
    }

    /// The earliest instant at which the scheduler's own rates let `class` send.
    #[inline]
    pub fn ready_at(&self, class: usize) -> Time {
        self.hierarchy.as_ref().map_or(Time::ZERO, |hierarchy| hierarchy.ready_at(class))
    }

    /// A packet enters the queue of `class`; returns the tag it carries until it is served.
    #[inline]
    pub fn handle_enqueue(&mut self, now: Time, class: usize, length: Bytes) -> u64 {
        if !self.tags {
            return 0;
        }
        let group = self.groups.iter_mut().find(|group| group.members.contains(class));
        match group.map(|group| &mut group.rule) {
            Some(Rule::Wfq(wfq)) => wfq.tag(now, class, length),
            _ => 0,
        }
    }

    /// The class that sends at `at` among the `eligible` ones.
    #[inline]
    pub fn choose(&mut self, at: Time, eligible: ClassSet, heads: &Heads) -> Option<usize> {
        if self.highest_first {
            return eligible.highest();
        }
        if let Some(hierarchy) = &mut self.hierarchy {
            return hierarchy.choose(at, eligible);
        }
        for group in &mut self.groups {
            let candidates = group.members.intersection(eligible);
            if candidates.is_empty() {
                continue;
            }
            return Some(match &mut group.rule {
                Rule::Alone(class) => *class,
                Rule::Drr(drr) => drr.choose(candidates, heads),
                Rule::Wrr(wrr) => wrr.choose(candidates),
                Rule::Wfq(wfq) => wfq.choose(candidates, heads),
            });
        }
        None
    }

    /// `class`, as chosen, sent a packet of `length` from `at` on, which keeps the line until
    /// `until`; `emptied` tells that its queue is now empty.
    #[inline]
    pub fn handle_departure(
        &mut self,
        at: Time,
        until: Time,
        class: usize,
        length: Bytes,
        emptied: bool,
    ) {
        if self.highest_first {
            return;
        }
        if let Some(hierarchy) = &mut self.hierarchy {
            hierarchy.charge(at, class, length, emptied);
        }
        for group in &mut self.groups {
            let own = group.members.contains(class);
            match &mut group.rule {
                Rule::Drr(drr) if own => drr.charge(class, length, emptied),
                Rule::Wrr(wrr) if own => wrr.charge(class, emptied),
                Rule::Wfq(wfq) if !own => wfq.pause(at, until),
                _ => {}
            }
        }
    }

    /// A queue became empty without sending: its last packets were dropped.
    pub fn handle_emptied(&mut self, class: usize) {
        if let Some(hierarchy) = &mut self.hierarchy {
            hierarchy.forget(class);
        }
        for group in &mut self.groups {
            match &mut group.rule {
                Rule::Drr(drr) if group.members.contains(class) => drr.forget(class),
                _ => {}
            }
        }
    }
}

impl Group {
    fn new(config: &GroupConfig, line_rate: Option<Rate>, now: Time) -> Group {
        let mut members = ClassSet::default();
        config.members.iter().for_each(|member| members.insert(member.class.index()));
        let rule = match (&config.members[..], config.discipline) {
            ([only], _) => Rule::Alone(only.class.index()),
            (all, Discipline::Drr { quantum }) => Rule::Drr(Drr::new(all, quantum)),
            (all, Discipline::Wrr) => Rule::Wrr(Wrr::new(all)),
            (all, Discipline::Wfq) => Rule::Wfq(Wfq::new(all, line_rate, now)),
        };
        Group { members, rule }
    }
}
