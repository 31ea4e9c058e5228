//! The emulated line: one direction of one cable between a port and its neighbour.
//!
//! ```text
//! handle_frame -> [ backlog: the sender's ] -> serialisation -> delay + jitter -> poll_output
//!                   limit in packets, bytes       rate            loss, corruption, duplication
//! ```
//!
//! The receive direction needs serialisation: a host on a veth hands over 64 KB in no time, a host
//! on a wire cannot. The transmit direction has none here, because the port has done it.
//!
//! [`Lines`] are those of all ports in one direction.

mod ahead;
mod config;
mod lines;
mod loss;
mod under_way;

use std::collections::VecDeque;

use units::{Bytes, HasLength, Span, Time};

use crate::counters::Tally;
use crate::error::ConfigError;
use crate::fate::Depth;
use chance::{Chance, Probability};

pub use config::{Impairment, Jitter, LineConfig, Loss, Stalls};
pub use lines::{LineReport, Lines};

use ahead::Ahead;
use loss::LossProcess;
use under_way::{Fate, UnderWay};

/// A line in action. Driven like [`Manager`](crate::Manager): poll until `None`, hand in what
/// happens at that instant, wait until [`next_due`](Line::next_due).
///
/// A new configuration acts on what waits in the backlog; frames that are being serialised or are
/// under way arrive as if nothing had changed.
#[derive(Debug)]
pub struct Line<P> {
    config: LineConfig,
    /// [`LineConfig::only_serialises`], kept so that the whole configuration need not be read.
    only_serialises: bool,
    /// Likewise [`LineConfig::is_transparent`].
    is_transparent: bool,
    dice: Dice,
    /// Handed in and not yet begun, but for the first while `serialised_at` is set.
    backlog: VecDeque<Waiting<P>>,
    /// When the first frame of the backlog, which is being serialised, comes out. Only set on a line
    /// that does nothing else to its frames: there a frame stays where it was handed in, because
    /// filing it among those under way would cost more than all the rest. On any other line a frame
    /// is under way as soon as it is begun.
    serialised_at: Option<Time>,
    /// Of the backlog.
    ahead: Ahead,
    /// The depth of the backlog without the frame that is being serialised.
    backlog_depth: Depth,
    /// The most packets and the most bytes that ever waited, each on its own.
    backlog_high_water: Depth,
    /// When the line can begin with the next frame.
    free_at: Time,
    under_way: UnderWay<P>,
    /// When the last frame that may not be overtaken arrives.
    in_order_at: Time,
    counters: LineCounters,
}

/// A frame that waits to be taken in.
#[derive(Debug)]
struct Waiting<P> {
    since: Time,
    /// That of the packet, which may have waited so long that it is in slow memory by now.
    length: Bytes,
    packet: P,
}

/// One for each thing that can happen, so that switching one on never changes another.
#[derive(Debug)]
struct Dice {
    corruption: Chance,
    duplication: Chance,
    jitter: Chance,
    loss: LossProcess,
    stalls: Chance,
}

/// Counters of a line. `offered + duplicated = delivered + lost + refused + held`.
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

/// The immediate result for a frame.
#[must_use = "a refused frame is lost"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineVerdict<P> {
    /// It will come out of `poll_output`.
    Held,
    /// The backlog is full.
    Refused(P),
}

/// The outputs of a line.
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
        let chance = |what| Chance::new(seed, &format!("line/{name}/{what}"));
        let dice = Dice {
            corruption: chance("corruption"),
            duplication: chance("duplication"),
            jitter: chance("jitter"),
            loss: LossProcess::new(chance("loss")),
            stalls: chance("stalls"),
        };
        Ok(Line {
            only_serialises: config.only_serialises(),
            is_transparent: config.is_transparent(),
            config,
            dice,
            backlog: VecDeque::new(),
            serialised_at: None,
            ahead: Ahead::default(),
            backlog_depth: Depth::default(),
            backlog_high_water: Depth::default(),
            free_at: Time::ZERO,
            under_way: UnderWay::new(),
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
        // Frames already begun arrive by the old configuration.
        self.file_serialised();
        self.only_serialises = config.only_serialises();
        self.is_transparent = config.is_transparent();
        self.config = config;
        self.free_at = self.free_at.max(now);
        Ok(())
    }

    /// The sender hands over a frame at `now`.
    #[inline]
    pub fn handle_frame(&mut self, now: Time, packet: P) -> LineVerdict<P> {
        self.begin_until(now);
        let length = packet.length();
        self.counters.offered.add(length);
        if self.backlog.is_empty() && self.free_at <= now {
            self.backlog.push_back(Waiting { since: now, length, packet });
            self.begin_first(now);
            return LineVerdict::Held;
        }
        let waiting = self.backlog_depth;
        if !self.config.backlog.has_room(waiting.packets, waiting.bytes, length) {
            self.counters.refused.add(length);
            return LineVerdict::Refused(packet);
        }
        self.backlog_depth.packets += 1;
        self.backlog_depth.bytes += length;
        let (highest, depth) = (&mut self.backlog_high_water, self.backlog_depth);
        highest.packets = highest.packets.max(depth.packets);
        highest.bytes = highest.bytes.max(depth.bytes);
        self.backlog.push_back(Waiting { since: now, length, packet });
        LineVerdict::Held
    }

    /// The next frame that comes out by `now`, in the order of their instants.
    pub fn poll_output(&mut self, now: Time) -> Option<LineOutput<P>> {
        if let Some((packet, at)) = self.poll_serialised(now) {
            return Some(LineOutput::Deliver { packet, at, flip_bit: None });
        }
        self.begin_until(now);
        let frame = self.under_way.take(now)?;
        let (at, length, packet, fate) = (frame.at, frame.length, frame.packet, frame.fate);
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
    #[inline]
    pub fn next_due(&self) -> Option<Time> {
        let arrival = self.under_way.next_due();
        // A frame that waits arrives no earlier than this.
        let waiting = self.serialised_at.or_else(|| {
            let first = self.backlog.front()?;
            let begins = self.free_at.max(first.since);
            let delay = self.config.impairment.delay;
            Some(begins.saturating_add(self.serialisation(first.length)).saturating_add(delay))
        });
        match (arrival, waiting) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Whether a frame that is handed in would come out at once and as it is.
    #[inline]
    pub fn is_clear(&self) -> bool {
        self.is_transparent && self.held().packets == 0
    }

    /// The frames that wait to be sent: the sender's queue.
    pub fn backlog(&self) -> Depth {
        self.backlog_depth
    }

    /// The most packets and the most bytes that ever waited to be taken in, each on its own.
    pub fn backlog_high_water(&self) -> Depth {
        self.backlog_high_water
    }

    /// Forgets what waited before: the high-water mark is what waits now.
    pub fn reset_high_water(&mut self) {
        self.backlog_high_water = self.backlog_depth;
    }

    /// The frames on the line.
    pub fn under_way(&self) -> Depth {
        let mut depth = self.under_way.depth();
        if let (Some(_), Some(first)) = (self.serialised_at, self.backlog.front()) {
            depth.packets += 1;
            depth.bytes += first.length;
        }
        depth
    }

    /// All that was handed in and has not come out.
    pub fn held(&self) -> Depth {
        let (backlog, under_way) = (self.backlog_depth, self.under_way());
        let packets = backlog.packets + under_way.packets;
        Depth { packets, bytes: backlog.bytes + under_way.bytes }
    }

    /// The line is taken away: the frames that would have arrived, in the order in which they were
    /// handed in.
    pub fn into_frames(self) -> impl Iterator<Item = P> {
        let waiting = self.backlog.into_iter().map(|waiting| waiting.packet);
        self.under_way.into_arriving().chain(waiting)
    }

    /// The counters until now.
    pub fn counters(&self) -> &LineCounters {
        &self.counters
    }

    /// Whether the books balance.
    pub fn balance(&self) -> bool {
        let counters = &self.counters;
        let mut out = counters.delivered;
        out += counters.lost;
        out += counters.refused;
        // Counted anew, so that the depths are checked too.
        let mut held = Tally::default();
        let waiting = self.backlog.iter().map(|waiting| waiting.packet.length());
        let under_way = self.under_way.iter().map(|frame| frame.packet.length());
        waiting.chain(under_way).for_each(|length| held.add(length));
        out += held;
        let mut into = counters.offered;
        into += counters.duplicated;
        let depth = self.held();
        into == out && held == Tally { packets: depth.packets, bytes: depth.bytes }
    }

    /// Takes in what the line can begin with by `now`.
    #[inline]
    fn begin_until(&mut self, now: Time) {
        while let Some(Waiting { since, length, .. }) = self.backlog.front() {
            if let Some(at) = self.serialised_at {
                if at > now {
                    return;
                }
                // It is through, but has not been taken yet.
                self.file_serialised();
                continue;
            }
            let begins = self.free_at.max(*since);
            if begins > now {
                return;
            }
            self.backlog_depth.packets -= 1;
            self.backlog_depth.bytes -= *length;
            self.begin_first(begins);
        }
    }

    /// The first bit of the backlog's first frame goes on the line; its fate is decided.
    #[inline]
    fn begin_first(&mut self, begins: Time) {
        let Some(first) = self.backlog.front() else { return };
        let sent = begins.saturating_add(self.serialisation(first.length));
        self.free_at = sent;
        if self.only_serialises && self.in_order_at <= sent {
            self.serialised_at = Some(sent);
            self.ahead.approach(self.backlog.iter().map(|waiting| &waiting.packet));
        } else if let Some(Waiting { packet, .. }) = self.backlog.pop_front() {
            self.dispatch(sent, packet);
        }
    }

    /// Whether the frame that comes out of the backlog `at` is the next of all.
    #[inline(always)]
    fn is_next(&self, at: Time) -> bool {
        self.under_way.next_due().is_none_or(|due| at < due)
    }

    /// The frame that was being serialised, if it is through by `now` and the next to come out: it
    /// arrives as it is.
    #[inline]
    fn poll_serialised(&mut self, now: Time) -> Option<(P, Time)> {
        let at = self.serialised_at.filter(|at| *at <= now && self.is_next(*at))?;
        let Waiting { packet, length, .. } = self.backlog.pop_front()?;
        self.serialised_at = None;
        self.counters.delivered.add(length);
        // The line takes the next one in at once, so that it is known when that is due.
        self.begin_until(at);
        Some((packet, at))
    }

    /// Files the frame that is being serialised, if there is one, among those under way.
    fn file_serialised(&mut self) {
        let Some(at) = self.serialised_at.take() else { return };
        let Some(Waiting { packet, .. }) = self.backlog.pop_front() else { return };
        self.in_order_at = at;
        self.under_way.add(at, packet, Fate::Arrives { flip_bit: None });
    }

    /// A frame is serialised at `sent`: what happens to it on its way is decided.
    fn dispatch(&mut self, sent: Time, packet: P) {
        let Impairment { delay, loss, duplication, .. } = self.config.impairment;
        if self.dice.loss.strikes(&loss) {
            self.under_way.add(sent.saturating_add(delay), packet, Fate::Lost);
            return;
        }
        if duplication > Probability::NEVER && self.dice.duplication.occurs(duplication) {
            self.counters.duplicated.add(packet.length());
            self.send(sent, packet.clone());
        }
        self.send(sent, packet);
    }

    /// A frame that will arrive, somewhat late and perhaps damaged.
    fn send(&mut self, sent: Time, packet: P) {
        let Impairment { delay, jitter: Jitter { max, reorder }, stalls, corruption, .. } =
            self.config.impairment;
        let mut at = sent.saturating_add(delay);
        if max > Span::ZERO {
            at = at.saturating_add(self.dice.jitter.span_up_to(max));
        }
        if stalls.share > Probability::NEVER && self.dice.stalls.occurs(stalls.share) {
            at = at.saturating_add(self.dice.stalls.span_up_to(stalls.max));
        }
        if !reorder {
            at = at.max(self.in_order_at);
            self.in_order_at = at;
        }
        let corrupt = corruption > Probability::NEVER && self.dice.corruption.occurs(corruption);
        let bits = packet.length().bits();
        let flip_bit = (corrupt && bits > 0).then(|| self.dice.corruption.below(bits));
        self.under_way.add(at, packet, Fate::Arrives { flip_bit });
    }

    fn serialisation(&self, length: Bytes) -> Span {
        match self.config.rate {
            Some(rate) => rate.span_of(length + self.config.overhead),
            None => Span::ZERO,
        }
    }
}
