//! Counters of every packet's fate.
//!
//! The conservation law of a device, at any instant between two calls:
//!
//! ```text
//! received + copied = transmitted + dropped (sum over reasons) + held
//! ```
//!
//! `held` is what the traffic manager holds. A frame is received when its receive line has carried
//! it, and transmitted when it goes onto its transmit line; lines keep books of their own
//! ([`traffic::LineCounters`]). A clone is a copy; a multicast to n ports makes n
//! copies and ends the packet itself as `replicated`, which counts against `copied`.

use std::collections::BTreeMap;

use traffic::Tally;
use units::{Bytes, DropReason, PortId};

/// The books of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortBooks {
    /// Frames that came in, whatever became of them.
    pub received: Tally,
    /// Frames that went out.
    pub transmitted: Tally,
    /// Packets that came in here (or are copies of such) and ended in the switch, by reason.
    pub dropped: BTreeMap<DropReason, Tally>,
}

/// The books of a device.
#[derive(Clone, Debug, Default)]
pub struct Books {
    /// By port number; none for a port that nothing has passed.
    ports: Vec<Option<Box<PortBooks>>>,
    /// Packets made inside the switch, less the originals that multicast replaced.
    copied: i64,
}

impl Books {
    /// The books of a port; all zero if nothing has passed it.
    pub fn port(&self, port: PortId) -> PortBooks {
        let books = self.ports.get(port.index()).and_then(Option::as_deref);
        books.cloned().unwrap_or_default()
    }

    /// Every port that something has passed.
    pub fn ports(&self) -> impl Iterator<Item = (PortId, &PortBooks)> {
        let numbered = (0..=u16::MAX).map(PortId).zip(&self.ports);
        numbered.filter_map(|(port, books)| Some((port, books.as_deref()?)))
    }

    /// Packets made inside the switch, less the originals that multicast replaced.
    pub fn copied(&self) -> i64 {
        self.copied
    }

    /// The packets dropped for `reason`, over all ports.
    pub fn dropped(&self, reason: DropReason) -> Tally {
        let mut sum = Tally::default();
        for (_, books) in self.ports() {
            sum += books.dropped.get(&reason).copied().unwrap_or_default();
        }
        sum
    }

    /// Whether the conservation law holds with `held` packets inside.
    pub fn balance(&self, held: u64) -> bool {
        let mut rest = self.copied - i64::try_from(held).unwrap_or(i64::MAX);
        for (_, books) in self.ports() {
            rest += books.received.packets as i64 - books.transmitted.packets as i64;
            rest -= books.dropped.values().map(|tally| tally.packets as i64).sum::<i64>();
        }
        rest == 0
    }

    pub(crate) fn count_received(&mut self, port: PortId, length: Bytes) {
        self.of(port).received.add(length);
    }

    pub(crate) fn count_transmitted(&mut self, port: PortId, length: Bytes) {
        self.of(port).transmitted.add(length);
    }

    pub(crate) fn count_drop(&mut self, port: PortId, reason: DropReason, length: Bytes) {
        self.of(port).dropped.entry(reason).or_default().add(length);
    }

    /// `copies` packets were made; if `replaced`, in place of one that is gone.
    pub(crate) fn count_copies(&mut self, copies: usize, replaced: bool) {
        self.copied += copies as i64 - i64::from(replaced);
    }

    /// The books of a port to write in.
    #[inline]
    fn of(&mut self, port: PortId) -> &mut PortBooks {
        let place = port.index();
        if self.ports.len() <= place {
            self.ports.resize_with(place + 1, || None);
        }
        self.ports[place].get_or_insert_default()
    }
}
