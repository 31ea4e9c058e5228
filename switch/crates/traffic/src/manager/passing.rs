//! Packets that find their port idle and pass.
//!
//! A router whose lines are as fast as its ports is empty most of the time: each packet arrives
//! when the one before has left. Such a packet never waits, so it need not be enqueued, found and
//! dequeued again. Its counters and its residence are those of the long way; `tests/laws.rs`
//! compares the two.

use units::{HasLength, Time};

use crate::fate::{Arrival, Departure, Residence};
use crate::manager::Manager;

impl<P: HasLength> Manager<P> {
    /// A packet comes from ingress processing at `now`, and the caller knows that nothing else will
    /// be handed in at that instant. If it departs at once, that is what comes back, and is not
    /// said by `poll_output` any more. Else the arrival does, for
    /// [`handle_packet`](Manager::handle_packet): nothing has happened.
    #[inline]
    pub fn pass_packet(
        &mut self,
        now: Time,
        arrival: Arrival<P>,
    ) -> Result<Departure<P>, Arrival<P>> {
        let length = arrival.packet.length();
        let class = arrival.class.index();
        if !self.is_quiet(now) {
            return Err(arrival);
        }
        let port = self.ports.get_mut(arrival.output);
        let Some(port) = port.filter(|port| port.lets_pass(class, length, now)) else {
            return Err(arrival);
        };
        port.pass(class, length, now);
        let (line_free_at, utilisation_basis_points) =
            (port.line_free_at(), port.utilisation_basis_points(now));
        self.advance(now);
        self.longest = self.longest.max(length);
        self.sequence += 1;
        self.totals.offered.add(length);
        self.totals.enqueued.add(length);
        self.totals.departed.add(length);
        let Arrival { packet, input, output, class, .. } = arrival;
        let residence = Residence { arrived_at: now, enqueued_at: now, ..Residence::default() };
        Ok(Departure {
            packet,
            input,
            output,
            class,
            at: now,
            line_free_at,
            residence,
            utilisation_basis_points,
        })
    }

    /// Whether a packet that arrives alone meets nothing but its port: nothing else is due at
    /// `now`, no other packet's way depends on this one's, and there is no watcher.
    #[inline]
    fn is_quiet(&self, now: Time) -> bool {
        self.due.first().is_none_or(|(at, _)| at > now)
            && self.crossing.is_none()
            && self.watch.is_none()
            && self.dropped.is_empty()
            && !self.ports.share_a_buffer()
    }
}
