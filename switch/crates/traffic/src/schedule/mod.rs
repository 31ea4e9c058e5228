//! The choice of the next class: strict priority between groups with a discipline inside each, or a
//! tree of classes.
//!
//! A scheduler is called only when the port is free, with the classes that may send at that instant
//! and the first packet of each. It keeps no list of waiting packets, so a change of configuration,
//! a drop at the head or a queue's own shaper cannot get it out of step.
//!
//! One file a discipline, with all there is to it. To add one, write such a file and name it in
//! `disciplines!` below; docs/contributing.md walks through it.

mod class_set;
mod drr;
mod hierarchy;
mod wfq;
mod wrr;

use units::{Bytes, CLASS_COUNT_MAX, Rate, Time};

use crate::config::{GroupConfig, Member, PortConfig, SchedulerConfig};
use crate::credit::{NodeTokens, ShareState};

pub(crate) use class_set::ClassSet;
use hierarchy::Hierarchy;

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
    /// sendable classes decides, and no group need be called.
    highest_first: bool,
}

#[derive(Clone, Debug)]
struct Group {
    members: ClassSet,
    rule: Rule,
}

/// The parameters for a new discipline.
struct Sharing<'a> {
    members: &'a [Member],
    /// Bytes a round for weight 1; 0 for disciplines without a quantum.
    quantum: Bytes,
    line_rate: Option<Rate>,
    now: Time,
}

/// A discipline at work among the members of one group.
trait Share {
    /// Its requirements: the value found, and an acceptable one.
    fn check(
        _quantum: Option<Bytes>,
        _port: &PortConfig,
    ) -> Result<(), (&'static str, &'static str)> {
        Ok(())
    }

    fn new(sharing: &Sharing<'_>) -> Self;

    /// Whether packets get a tag on arrival, which they carry until they are served.
    const TAGS: bool = false;

    /// The tag of a packet that enters the queue of `class`.
    fn tag(&mut self, _now: Time, _class: usize, _length: Bytes) -> u64 {
        0
    }

    /// The class that sends next; at least one is eligible.
    fn choose(&mut self, eligible: ClassSet, heads: &Heads) -> usize;

    /// `class`, as chosen, sent a packet; `emptied` says whether its queue is now empty.
    fn handle_departure(&mut self, class: usize, length: Bytes, emptied: bool);

    /// A class of no interest has the line from `at` until `until`.
    fn handle_pause(&mut self, _at: Time, _until: Time) {}

    /// The queue of `class` became empty without sending.
    fn handle_emptied(&mut self, _class: usize) {}

    /// Its state for `class`, for display; `head` is the class's first packet, if there is one.
    fn state(&self, class: usize, head: Option<&Head>) -> Option<ShareState>;
}

macro_rules! disciplines {
    ($($(#[$doc:meta])* $name:literal $kind:ident $({ $(#[$of_quantum:meta])* $quantum:ident })? ($rule:ty);)*) => {
        /// How the members of a group share.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Discipline {
            $($(#[$doc])* $kind $({ $(#[$of_quantum])* $quantum: Bytes })?,)*
        }

        impl Discipline {
            /// Every discipline by its name in the proto file and in topology files.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The discipline of this name; where it has a quantum, this one.
            pub fn named(name: &str, bytes: Bytes) -> Option<Discipline> {
                match name {
                    $($name => Some(Discipline::$kind $({ $quantum: bytes })?),)*
                    _ => None,
                }
            }

            /// Its name in the proto file and in topology files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Discipline::$kind $({ $quantum: _ })? => $name,)*
                }
            }

            /// Bytes a round for weight 1, if it has a quantum.
            pub fn quantum(self) -> Option<Bytes> {
                match self {
                    $(Discipline::$kind $({ $quantum })? => [$($quantum)?].first().copied(),)*
                }
            }

            pub(crate) fn check(
                self,
                port: &PortConfig,
            ) -> Result<(), (&'static str, &'static str)> {
                match self {
                    $(Discipline::$kind { .. } => <$rule as Share>::check(self.quantum(), port),)*
                }
            }
        }

        #[derive(Clone, Debug)]
        enum Rule {
            /// Only one member: nothing to decide.
            Alone(usize),
            $($kind($rule),)*
        }

        impl Rule {
            fn new(discipline: Discipline, sharing: &Sharing<'_>) -> Rule {
                match (sharing.members, discipline) {
                    ([only], _) => Rule::Alone(only.class.index()),
                    $((_, Discipline::$kind { .. }) => Rule::$kind(Share::new(sharing)),)*
                }
            }

            fn has_tags(&self) -> bool {
                match self {
                    Rule::Alone(_) => false,
                    $(Rule::$kind(_) => <$rule as Share>::TAGS,)*
                }
            }

            #[inline]
            fn tag(&mut self, now: Time, class: usize, length: Bytes) -> u64 {
                match self {
                    Rule::Alone(_) => 0,
                    $(Rule::$kind(rule) => rule.tag(now, class, length),)*
                }
            }

            #[inline]
            fn choose(&mut self, eligible: ClassSet, heads: &Heads) -> usize {
                match self {
                    Rule::Alone(class) => *class,
                    $(Rule::$kind(rule) => rule.choose(eligible, heads),)*
                }
            }

            #[inline]
            fn handle_departure(&mut self, class: usize, length: Bytes, emptied: bool) {
                match self {
                    Rule::Alone(_) => {}
                    $(Rule::$kind(rule) => rule.handle_departure(class, length, emptied),)*
                }
            }

            #[inline]
            fn handle_pause(&mut self, at: Time, until: Time) {
                match self {
                    Rule::Alone(_) => {}
                    $(Rule::$kind(rule) => rule.handle_pause(at, until),)*
                }
            }

            fn handle_emptied(&mut self, class: usize) {
                match self {
                    Rule::Alone(_) => {}
                    $(Rule::$kind(rule) => rule.handle_emptied(class),)*
                }
            }

            fn state(&self, class: usize, head: Option<&Head>) -> Option<ShareState> {
                match self {
                    Rule::Alone(_) => None,
                    $(Rule::$kind(rule) => rule.state(class, head),)*
                }
            }
        }
    };
}

disciplines! {
    /// Deficit round robin: in each round a class may send weight x quantum bytes, and what it
    /// leaves of them is added to the next round (Shreedhar and Varghese 1995).
    "drr" Drr {
        /// Bytes a round for weight 1. From the longest packet up, each decision takes one look
        /// at each class at most.
        quantum
    } (drr::Drr);
    /// Weighted fair queueing: the packet that would finish first if all classes sent at once,
    /// each in proportion to its weight (Demers, Keshav and Shenker 1989; Parekh's PGPS).
    /// Needs a port with a line rate.
    "wfq" Wfq(wfq::Wfq);
    /// Weighted round robin: in each round a class may send `weight` packets, whatever their
    /// length, so classes with long packets get more.
    "wrr" Wrr(wrr::Wrr);
}

impl Scheduler {
    /// A scheduler for a port whose line runs at `line_rate`.
    pub fn new(config: &SchedulerConfig, line_rate: Option<Rate>, now: Time) -> Scheduler {
        match config {
            SchedulerConfig::Groups(groups) => {
                let groups: Vec<Group> =
                    groups.iter().map(|group| Group::new(group, line_rate, now)).collect();
                let tags = groups.iter().any(|group| group.rule.has_tags());
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
        group.map_or(0, |group| group.rule.tag(now, class, length))
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
            if !candidates.is_empty() {
                return Some(group.rule.choose(candidates, heads));
            }
        }
        None
    }

    /// `class`, as chosen, sent a packet of `length` from `at` on, which keeps the line until
    /// `until`; `emptied` says whether its queue is now empty.
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
            match group.members.contains(class) {
                true => group.rule.handle_departure(class, length, emptied),
                false => group.rule.handle_pause(at, until),
            }
        }
    }

    /// A queue became empty without sending: its last packets were dropped.
    pub fn handle_emptied(&mut self, class: usize) {
        if let Some(hierarchy) = &mut self.hierarchy {
            hierarchy.forget(class);
        }
        let group = self.groups.iter_mut().find(|group| group.members.contains(class));
        if let Some(group) = group {
            group.rule.handle_emptied(class);
        }
    }

    /// The group's state for the class; `head` is the class's first packet, if there is one.
    pub fn state(&self, class: usize, head: Option<&Head>) -> Option<ShareState> {
        let group = self.groups.iter().find(|group| group.members.contains(class))?;
        group.rule.state(class, head)
    }

    /// The tokens in the buckets of a hierarchy at `now`, parents before children.
    pub fn nodes(&self, now: Time) -> Vec<NodeTokens> {
        self.hierarchy.as_ref().map_or_else(Vec::new, |hierarchy| hierarchy.tokens(now))
    }
}

impl Group {
    fn new(config: &GroupConfig, line_rate: Option<Rate>, now: Time) -> Group {
        let mut members = ClassSet::default();
        config.members.iter().for_each(|member| members.insert(member.class.index()));
        let quantum = config.discipline.quantum().unwrap_or(Bytes::ZERO);
        let sharing = Sharing { members: &config.members, quantum, line_rate, now };
        let rule = Rule::new(config.discipline, &sharing);
        Group { members, rule }
    }
}
