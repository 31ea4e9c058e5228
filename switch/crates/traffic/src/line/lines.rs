//! The lines of all ports in one direction.

use units::{Bytes, HasLength, PortId, Time};

use crate::due::DueHeap;
use crate::error::ConfigError;
use crate::fate::Depth;

use super::{Line, LineConfig, LineCounters, LineOutput, LineVerdict};

/// Lines by port. Driven like one [`Line`].
///
/// A port whose line does nothing has none; [`is_clear`](Lines::is_clear) says so, and its frames
/// need not be handed in. So lines that are not used cost one look-up a frame.
#[derive(Debug)]
pub struct Lines<P> {
    seed: u64,
    /// The name of these lines' random generators.
    direction: &'static str,
    /// By port number. A line that was needed once stays, with its books, as long as its port does.
    lines: Vec<Option<Box<Line<P>>>>,
    due: DueHeap,
    /// The frames on all lines together.
    held: Depth,
}

/// One line, as it is now and as it has been since it first had something to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineReport {
    /// The frames that wait to be sent: the sender's queue.
    pub backlog: Depth,
    /// The most packets and the most bytes that ever waited there, each on its own.
    pub backlog_high_water: Depth,
    /// The frames under way.
    pub under_way: Depth,
    /// Events on the way. Frames that met a clear line are in none of the counters.
    pub counters: LineCounters,
}

impl<P: HasLength + Clone> Lines<P> {
    /// No lines yet; `direction` tells their dice from those of other lines of the run.
    pub fn new(seed: u64, direction: &'static str) -> Lines<P> {
        Lines {
            seed,
            direction,
            lines: Vec::new(),
            due: DueHeap::default(),
            held: Depth::default(),
        }
    }

    /// Puts `config` in force for the line of `port` at `now`, or refuses it and changes nothing.
    pub fn configure(
        &mut self,
        now: Time,
        port: PortId,
        config: LineConfig,
    ) -> Result<(), ConfigError> {
        if self.line(port).is_some() {
            self.update(port.index(), |line| line.configure(now, config)).transpose()?;
        } else if !config.is_transparent() {
            let name = format!("{}/{port}", self.direction);
            let line = Line::new(config, self.seed, &name)?;
            if self.lines.len() <= port.index() {
                self.lines.resize_with(port.index() + 1, || None);
            }
            self.lines[port.index()] = Some(Box::new(line));
        }
        Ok(())
    }

    /// Takes the line of `port` away, with its books and its dice: a port that is called so later
    /// begins anew. Returns the frames that would still have arrived, in their order.
    pub fn remove(&mut self, port: PortId) -> impl Iterator<Item = P> + use<P> {
        let line = self.lines.get_mut(port.index()).and_then(Option::take);
        if let Some(line) = &line {
            let held = line.held();
            self.held.packets -= held.packets;
            self.held.bytes -= held.bytes;
            self.due.set(port.index(), None);
        }
        line.into_iter().flat_map(|line| line.into_frames())
    }

    /// The frames on the line of `port`.
    #[inline]
    pub fn held_of(&self, port: PortId) -> Depth {
        self.line(port).map_or_else(Depth::default, Line::held)
    }

    /// Whether a frame that is handed in would come out at once and as it is.
    #[inline]
    pub fn is_clear(&self, port: PortId) -> bool {
        self.line(port).is_none_or(Line::is_clear)
    }

    /// The sender hands over a frame at `now`. A port without a line refuses.
    pub fn handle_frame(&mut self, now: Time, port: PortId, packet: P) -> LineVerdict<P> {
        let Some(line) = self.lines.get_mut(port.index()).and_then(Option::as_deref_mut) else {
            return LineVerdict::Refused(packet);
        };
        let length = packet.length();
        if line.only_serialises {
            // Such a line makes no copies, and a frame is not affected by those behind it.
            let goes_behind = line.serialised_at.is_some();
            let verdict = line.handle_frame(now, packet);
            if matches!(verdict, LineVerdict::Held) {
                self.held.packets += 1;
                self.held.bytes += length;
            }
            if !goes_behind {
                self.due.set(port.index(), line.next_due());
            }
            return verdict;
        }
        let verdict = self.update(port.index(), |line| line.handle_frame(now, packet));
        verdict.expect("a port without a line has refused")
    }

    /// The next frame that comes out by `now`, in the order of instants and then of ports.
    pub fn poll_output(&mut self, now: Time) -> Option<(PortId, LineOutput<P>)> {
        loop {
            let (due, member) = self.due.first().filter(|(due, _)| *due <= now)?;
            let port = PortId(member as u16);
            let line = self.lines.get_mut(member).and_then(Option::as_deref_mut)?;
            // Asked for its own instant: with a late `now` it might run ahead of other lines.
            if let Some((packet, at)) = line.poll_serialised(due) {
                self.due.set(member, line.next_due());
                self.held.packets -= 1;
                self.held.bytes -= packet.length();
                return Some((port, LineOutput::Deliver { packet, at, flip_bit: None }));
            }
            if let Some(output) = self.update(member, |line| line.poll_output(due))? {
                return Some((port, output));
            }
        }
    }

    /// When `poll_output` may have something, if nothing is handed in before.
    #[inline]
    pub fn next_due(&self) -> Option<Time> {
        self.due.first().map(|(due, _)| due)
    }

    /// The state of the line of `port`; all zero if it never carried a frame.
    pub fn report(&self, port: PortId) -> LineReport {
        let Some(line) = self.line(port) else { return LineReport::default() };
        LineReport {
            backlog: line.backlog(),
            backlog_high_water: line.backlog_high_water(),
            under_way: line.under_way(),
            counters: *line.counters(),
        }
    }

    /// Sets all high-water marks down to what waits now.
    pub fn reset_high_water(&mut self) {
        self.lines.iter_mut().flatten().for_each(|line| line.reset_high_water());
    }

    /// The frames of all lines that were handed in and have not come out.
    #[inline]
    pub fn held(&self) -> Depth {
        self.held
    }

    /// Lets something happen to a line, if there is one, and notes when it is due then and what it
    /// holds: whatever lets frames begin may double them.
    fn update<T>(&mut self, member: usize, happen: impl FnOnce(&mut Line<P>) -> T) -> Option<T> {
        let line = self.lines.get_mut(member).and_then(Option::as_deref_mut)?;
        let before = line.held();
        let outcome = happen(line);
        let after = line.held();
        self.due.set(member, line.next_due());
        self.held.packets = self.held.packets + after.packets - before.packets;
        self.held.bytes = Bytes(self.held.bytes.0 + after.bytes.0 - before.bytes.0);
        Some(outcome)
    }

    /// Whether the books of every line balance.
    pub fn balance(&self) -> bool {
        let mut held = Depth::default();
        for line in self.lines.iter().flatten() {
            held.packets += line.held().packets;
            held.bytes += line.held().bytes;
        }
        held == self.held && self.lines.iter().flatten().all(|line| line.balance())
    }

    #[inline]
    fn line(&self, port: PortId) -> Option<&Line<P>> {
        self.lines.get(port.index())?.as_deref()
    }
}
