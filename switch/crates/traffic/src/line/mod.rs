//! The emulated line: one direction of one cable between a port and its neighbour.
//!
//! ```text
//! handle_frame -> [ backlog: the sender's ] -> serialisation -> delay + jitter -> poll_output
//!                   limit in packets, bytes       rate            loss, corruption, duplication
//! ```
//!
//! The receive direction needs serialisation: a host on a veth hands over 64 KB in no time, a host
//! on a wire cannot. The transmit direction has none here, because the port has done it.

mod config;
mod loss;

use std::collections::VecDeque;

use units::{HasLength, Span, Time};

use crate::chance::Chance;
use crate::config::ConfigError;
use crate::counters::Tally;
use crate::fate::Depth;

pub use config::{Jitter, LineConfig, Loss};

use loss::LossProcess;

/// A line in action. Driven like [`Manager`](crate::Manager): poll until `None`, hand in what
/// happens at that instant, wait until [`next_due`](Line::next_due).
///
/// A new configuration acts on what waits in the backlog; frames that are being serialised or are
/// under way arrive as if nothing had changed.
#[derive(Debug)]
pub struct Line<P> {
    config: LineConfig,
    chance: Chance,
    loss: LossProcess,
    /// Handed in at that instant and not yet begun.
    backlog: VecDeque<(Time, P)>,
    backlog_depth: Depth,
    /// When the line can begin with the next frame.
    free_at: Time,
    /// Begun; in the order in which they come out.
    under_way: VecDeque<UnderWay<P>>,
    /// When the last frame that may not be overtaken arrives.
    in_order_at: Time,
    counters: LineCounters,
}

#[derive(Debug)]
struct UnderWay<P> {
    at: Time,
    packet: P,
    fate: Fate,
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    Arrives { flip_bit: Option<u64> },
    Lost,
}

/// What happened on a line. `offered + duplicated = delivered + lost + refused + held`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounters {
    /// Handed in.
    pub offered: Tally,
    /// Refused because the backlog was full: the sender's loss, not the router's.
    pub refused: Tally,
    /// Copies that the line made.
    pub duplicated: Tally,
    /// Lost on the way.
    pub lost: Tally,
    /// Arrived.
    pub delivered: Tally,
    /// Arrived with a bit flipped; counted in `delivered` too.
    pub corrupted: Tally,
}

/// What became of a frame at once.
#[must_use = "a refused frame is lost"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineVerdict<P> {
    /// It will come out of `poll_output`.
    Held,
    /// The backlog is full.
    Refused(P),
}

/// What comes out of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOutput<P> {
    /// The frame's last bit arrives.
    Deliver {
        /// The frame.
        packet: P,
        /// The exact instant.
        at: Time,
        /// Flip this bit, counted from the first of the frame, to get what arrives.
        flip_bit: Option<u64>,
    },
    /// The frame is lost.
    Lose {
        /// The frame.
        packet: P,
        /// When it would have arrived.
        at: Time,
    },
}

impl<P: HasLength + Clone> Line<P> {
    /// An idle line; `name` tells its dice from all others of the run.
    pub fn new(config: LineConfig, seed: u64, name: &str) -> Result<Line<P>, ConfigError> {
        config.validate()?;
        Ok(Line {
            config,
            chance: Chance::new(seed, &format!("line/{name}")),
            loss: LossProcess::new(Chance::new(seed, &format!("line/{name}/loss"))),
            backlog: VecDeque::new(),
            backlog_depth: Depth::default(),
            free_at: Time::ZERO,
            under_way: VecDeque::new(),
            in_order_at: Time::ZERO,
            counters: LineCounters::default(),
        })
    }

    /// The configuration in force.
    pub fn config(&self) -> &LineConfig {
        &self.config
    }

    /// Puts `config` in force at `now`, or refuses it and changes nothing.
    pub fn configure(&mut self, now: Time, config: LineConfig) -> Result<(), ConfigError> {
        config.validate()?;
        self.begin_until(now);
        self.config = config;
        self.free_at = self.free_at.max(now);
        Ok(())
    }

    /// The sender hands over a frame at `now`.
    pub fn handle_frame(&mut self, now: Time, packet: P) -> LineVerdict<P> {
        self.begin_until(now);
        let length = packet.length();
        self.counters.offered.add(length);
        let waiting = self.backlog_depth;
        let must_wait = self.free_at > now;
        if must_wait && !self.config.backlog.has_room(waiting.packets, waiting.bytes, length) {
            self.counters.refused.add(length);
            return LineVerdict::Refused(packet);
        }
        self.backlog_depth.packets += 1;
        self.backlog_depth.bytes += length;
        self.backlog.push_back((now, packet));
        self.begin_until(now);
        LineVerdict::Held
    }

    /// The next frame that comes out by `now`, in the order of their instants.
    pub fn poll_output(&mut self, now: Time) -> Option<LineOutput<P>> {
        self.begin_until(now);
        if self.under_way.front()?.at > now {
            return None;
        }
        let UnderWay { at, packet, fate } = self.under_way.pop_front()?;
        let length = packet.length();
        match fate {
            Fate::Lost => {
                self.counters.lost.add(length);
                Some(LineOutput::Lose { packet, at })
            }
            Fate::Arrives { flip_bit } => {
                self.counters.delivered.add(length);
                if flip_bit.is_some() {
                    self.counters.corrupted.add(length);
                }
                Some(LineOutput::Deliver { packet, at, flip_bit })
            }
        }
    }

    /// When `poll_output` may have something, if nothing is handed in before. With jitter it may
    /// turn out to be too early; then ask again.
    pub fn next_due(&self) -> Option<Time> {
        let arrival = self.under_way.front().map(|frame| frame.at);
        // A frame that waits arrives no earlier than this.
        let waiting = self.backlog.front().map(|(since, packet)| {
            let begins = self.free_at.max(*since);
            begins.saturating_add(self.serialisation(packet)).saturating_add(self.config.delay)
        });
        match (arrival, waiting) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// What waits to be taken in: the sender's queue.
    pub fn backlog(&self) -> Depth {
        self.backlog_depth
    }

    /// How many frames are on the line.
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// What happened so far.
    pub fn counters(&self) -> &LineCounters {
        &self.counters
    }

    /// Whether the books balance.
    pub fn balance(&self) -> bool {
        let counters = &self.counters;
        let mut out = counters.delivered;
        out += counters.lost;
        out += counters.refused;
        let packets = self.backlog_depth.packets + self.under_way.len() as u64;
        let under_way = self.under_way.iter().map(|frame| frame.packet.length());
        let bytes = self.backlog_depth.bytes + under_way.sum();
        out += Tally { packets, bytes };
        let mut into = counters.offered;
        into += counters.duplicated;
        into == out
    }

    /// Takes in what the line can begin with by `now`.
    fn begin_until(&mut self, now: Time) {
        while let Some((since, _)) = self.backlog.front() {
            let begins = self.free_at.max(*since);
            if begins > now {
                return;
            }
            let Some((_, packet)) = self.backlog.pop_front() else { return };
            self.backlog_depth.packets -= 1;
            self.backlog_depth.bytes -= packet.length();
            self.begin(begins, packet);
        }
    }

    /// The frame's first bit goes on the line; its fate is decided.
    fn begin(&mut self, begins: Time, packet: P) {
        let sent = begins.saturating_add(self.serialisation(&packet));
        self.free_at = sent;
        if self.loss.strikes(&self.config.loss) {
            self.add(sent.saturating_add(self.config.delay), packet, Fate::Lost);
            return;
        }
        if self.chance.occurs(self.config.duplication) {
            self.counters.duplicated.add(packet.length());
            self.send(sent, packet.clone());
        }
        self.send(sent, packet);
    }

    /// A frame that will arrive, somewhat late and perhaps damaged.
    fn send(&mut self, sent: Time, packet: P) {
        let Jitter { max, reorder } = self.config.jitter;
        let jitter = if max > Span::ZERO { self.chance.span_up_to(max) } else { Span::ZERO };
        let mut at = sent.saturating_add(self.config.delay).saturating_add(jitter);
        if !reorder {
            at = at.max(self.in_order_at);
            self.in_order_at = at;
        }
        let corrupt = self.chance.occurs(self.config.corruption);
        let bits = packet.length().bits();
        let flip_bit = (corrupt && bits > 0).then(|| self.chance.below(bits));
        self.add(at, packet, Fate::Arrives { flip_bit });
    }

    /// Files a frame by its instant, behind all of the same instant. Without reordering that is
    /// the end of the list.
    fn add(&mut self, at: Time, packet: P, fate: Fate) {
        let frame = UnderWay { at, packet, fate };
        match self.under_way.back() {
            Some(last) if last.at > at => {
                let place = self.under_way.partition_point(|other| other.at <= at);
                self.under_way.insert(place, frame);
            }
            _ => self.under_way.push_back(frame),
        }
    }

    fn serialisation(&self, packet: &P) -> Span {
        match self.config.rate {
            Some(rate) => rate.span_of(packet.length() + self.config.overhead),
            None => Span::ZERO,
        }
    }
}
