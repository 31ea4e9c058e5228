//! What a world asks of a host.

use device::Frame;
use units::Time;

use crate::frames::Frames;

/// An end point: it takes frames and sends some.
///
/// Driven like a [`Device`](device::Device), sans-IO: the world asks [`next_due`](Host::next_due),
/// takes at that instant what [`poll_transmit`](Host::poll_transmit) has until it has nothing more,
/// and then hands over the frames that arrive at that instant. An answer to one of them is asked
/// for after that, at the same instant.
///
/// What the host's network card makes wait is not the host's: the port at the other end of its
/// cable emulates the card, as it does where hosts are live
/// ([`SenderConfig`](device::SenderConfig)).
pub trait Host {
    /// A frame arrives. Its memory goes back to `frames`, now or when the host is done with it.
    fn handle_frame(&mut self, now: Time, frame: Frame, frames: &mut Frames);

    /// The next frame that the host sends at `now`, in memory from `frames`.
    fn poll_transmit(&mut self, now: Time, frames: &mut Frames) -> Option<Frame>;

    /// When `poll_transmit` has to be asked, if nothing arrives before. No earlier than the instant
    /// at which it was last asked and had nothing more.
    fn next_due(&self) -> Option<Time>;
}
