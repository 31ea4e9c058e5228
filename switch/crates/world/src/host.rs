//! The world's interface to a host.

use device::Frame;
use units::{PortId, Time};

use frames::Pool;

/// An end point: it takes frames and sends some.
///
/// Driven like a [`Device`](device::Device), sans-IO: the world reads [`next_due`](Host::next_due),
/// lets the host act at that instant ([`handle_time`](Host::handle_time)), takes frames from
/// [`poll_transmit`](Host::poll_transmit) until there are no more, and then hands over the frames
/// that arrive at that instant. Answers to them are polled after that, at the same instant. The
/// ports of a host are its network cards, from 0.
///
/// The queue of the host's network card is not in the host: the port at the other end of its cable
/// emulates the card, as it does for live hosts ([`SenderConfig`](device::SenderConfig)).
pub trait Host {
    /// A frame arrives. Its memory goes back to `frames`, now or when the host is done with it.
    fn handle_frame(&mut self, now: Time, port: PortId, frame: Frame, frames: &mut Pool);

    /// It is an instant that [`next_due`](Host::next_due) has named.
    fn handle_time(&mut self, now: Time);

    /// The next frame that the host sends at `now`, in memory from `frames`, and by which port.
    fn poll_transmit(&mut self, now: Time, frames: &mut Pool) -> Option<(PortId, Frame)>;

    /// When the host has something to do or to send, if nothing arrives before. Later than the
    /// instant at which it was last asked and had nothing more, or never.
    fn next_due(&self) -> Option<Time>;

    /// Whether the host's own books account for every frame: the `received` that it was handed and
    /// the `sent` that were taken from it.
    fn balances(&self, received: u64, sent: u64) -> bool;
}
