//! Output ports and their queues.

use units::{Bytes, CLASS_COUNT_MAX, ClassId, Rate, Span};

use super::{BufferShare, SchedulerConfig};
use crate::aqm::configs::AqmConfig;
use crate::error::ConfigError;
use crate::limit::Limit;
use crate::shaper::ShaperConfig;

/// One output queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// Tail drop: an arrival that does not fit is dropped.
    pub limit: Limit,
    /// A rate of the queue's own, below the port's.
    pub shaper: Option<ShaperConfig>,
    /// Active queue management, for packets that fit.
    pub aqm: Option<AqmConfig>,
    /// The queue's claim on the router's shared buffer, if it has one.
    pub share: BufferShare,
    /// In which order its packets leave.
    pub order: QueueOrder,
}

/// The most that a line adds to a frame: more than any line does, and a slip of a unit beyond it.
pub const OVERHEAD_MAX: Bytes = Bytes(65_535);

/// In which order the packets of a queue leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueOrder {
    /// First in, first out.
    #[default]
    Arrival,
    /// The lowest rank first, equal ranks in the order of arrival: a PIFO. A full queue drops the
    /// highest rank, be it of a packet that waits or of the one that arrives.
    Rank,
}

/// 64 packets, as in simple_switch, no rate of its own and no AQM.
impl Default for QueueConfig {
    fn default() -> QueueConfig {
        QueueConfig {
            limit: Limit::packets(64),
            shaper: None,
            aqm: None,
            share: BufferShare::default(),
            order: QueueOrder::default(),
        }
    }
}

/// One output port: its line, its queues and its scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortConfig {
    /// The line's speed; without one a packet takes no time and nothing ever waits.
    pub line_rate: Option<Rate>,
    /// Added to every frame's length on the line: 0 counts the frame alone, 24 makes real
    /// Ethernet (preamble 8, frame check sequence 4, gap 12).
    pub overhead: Bytes,
    /// A limit over all queues of the port together.
    pub limit: Limit,
    /// A token bucket over all queues of the port together, below the line's speed. Because it
    /// may not favour short packets, it sends when it covers the longest packet that is first in
    /// its queue.
    pub shaper: Option<ShaperConfig>,
    /// Which queue is next.
    pub scheduler: SchedulerConfig,
    /// The window over which utilisation is measured.
    pub utilisation_window: Span,
    /// The queues, class 0 first; one to eight.
    pub queues: Vec<QueueConfig>,
}

impl PortConfig {
    /// A port with `class_count` queues served by strict priority, the highest class first.
    pub fn strict(line_rate: Option<Rate>, class_count: usize) -> PortConfig {
        PortConfig {
            line_rate,
            overhead: Bytes::ZERO,
            limit: Limit::NONE,
            shaper: None,
            scheduler: SchedulerConfig::strict(class_count),
            utilisation_window: Span::from_ms(10),
            queues: vec![QueueConfig::default(); class_count],
        }
    }

    /// Checks the port by itself; `place` says which it is.
    pub fn check(&self, place: &str) -> Result<(), ConfigError> {
        if self.queues.is_empty() || self.queues.len() > CLASS_COUNT_MAX {
            return Err(ConfigError::new(
                format!("{place}, queues"),
                format!("{} queues", self.queues.len()),
                format!("a port has 1 to {CLASS_COUNT_MAX} queues"),
            ));
        }
        if self.overhead > OVERHEAD_MAX {
            return Err(ConfigError::new(
                format!("{place}, overhead"),
                self.overhead.to_string(),
                format!("at most {OVERHEAD_MAX} a frame; Ethernet has 24"),
            ));
        }
        if self.utilisation_window == Span::ZERO {
            return Err(ConfigError::new(
                format!("{place}, utilisation window"),
                "a window of no length",
                "10 ms is a good choice",
            ));
        }
        self.limit.check(place)?;
        if let Some(shaper) = &self.shaper {
            shaper.validate(place)?;
        }
        for (class, queue) in self.queues.iter().enumerate() {
            let place = format!("{place}, class {class}");
            queue.limit.check(&place)?;
            if let Some(shaper) = &queue.shaper {
                shaper.validate(&place)?;
            }
            if let Some(aqm) = &queue.aqm {
                aqm.check(&place)?;
            }
        }
        self.check_orders(place)?;
        self.check_pairs(place)?;
        self.scheduler.validate(self, place)
    }

    /// Weighted fair queueing tags packets in the order of arrival.
    fn check_orders(&self, place: &str) -> Result<(), ConfigError> {
        let is_ranked = |queue: &QueueConfig| queue.order == QueueOrder::Rank;
        match self.queues.iter().position(is_ranked) {
            Some(class) if self.scheduler.tags_packets() => Err(ConfigError::new(
                format!("{place}, class {class}, order"),
                "a queue ordered by rank under weighted fair queueing",
                "choose strict, drr or wrr: wfq tags packets in the order of arrival",
            )),
            _ => Ok(()),
        }
    }

    /// Checks the queues that are managed in pairs.
    fn check_pairs(&self, place: &str) -> Result<(), ConfigError> {
        let mut taken = Vec::new();
        for (class, queue) in self.queues.iter().enumerate() {
            let Some(l4s) = queue.aqm.as_ref().and_then(AqmConfig::l4s_class) else { continue };
            let refuse = |found: String, advice: &str| {
                Err(ConfigError::new(format!("{place}, class {class}, AQM"), found, advice))
            };
            match self.queues.get(l4s.index()) {
                _ if l4s.index() == class => {
                    return refuse(
                        format!("class {l4s} as the L4S class of itself"),
                        "name another class of the port",
                    );
                }
                None => {
                    return refuse(
                        format!("the L4S class {l4s}, which has no queue"),
                        "name another class of the port, or give the port more classes",
                    );
                }
                Some(other) if other.aqm.is_some() => {
                    return refuse(
                        format!("the L4S class {l4s}, which has queue management of its own"),
                        "take that away: one method manages both queues",
                    );
                }
                Some(_) if taken.contains(&l4s) => {
                    return refuse(
                        format!("the L4S class {l4s}, which another class has taken"),
                        "give each Classic class an L4S class of its own",
                    );
                }
                Some(_) => taken.push(l4s),
            }
        }
        Ok(())
    }

    /// The configured queue of a class.
    pub fn queue(&self, class: ClassId) -> Option<&QueueConfig> {
        self.queues.get(class.index())
    }
}
