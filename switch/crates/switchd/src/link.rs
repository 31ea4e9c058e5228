//! One port and the netdev behind it, which may go and come back while the switch runs.

use std::collections::VecDeque;
use std::os::fd::{AsRawFd, RawFd};

use device::{Frame, Seal};
use p4runtime::netdev::NetdevCounters;
use ports::{
    FRAME_SIZE_BYTES_MAX, FRAME_SIZE_BYTES_MIN, Gathering, LinkState, Note, Offload, Outgoing,
    PacketSocket, Piece, ReceiveBatch, ReceivedPacket, Refused, SendBatch, Tail, UnknownGso,
    Waiting, segment,
};
use units::{PortId, Span, Time};

use crate::settings::DeviceUse;

/// A port's netdev and what waits to be sent on it.
pub struct Link {
    /// The port's number in P4.
    pub port: PortId,
    /// The netdev's name: what it is found by when it comes back.
    name: String,
    /// None while there is no such netdev.
    socket: Option<PacketSocket>,
    /// The netdev is there and carries.
    up: bool,
    /// It is there, but could not be opened; that has been said.
    is_unusable: bool,
    /// The request to the kernel whenever the netdev is opened.
    device: DeviceUse,
    /// The frames that are not with the kernel yet. After a flush: those the socket has no room
    /// for.
    outgoing: Vec<Departing>,
    /// The socket was full a moment ago: each frame is tried at once, so that those it has no room
    /// for stay in the router's queues.
    is_cautious: bool,
    /// Received packets whose frames were too many for one turn.
    unfinished: VecDeque<Unfinished>,
    /// Several frames have just left: until this instant they are collected, to leave together.
    gathers_until: Time,
    counters: NetdevCounters,
}

/// How long frames are collected when the last ones left in a super-packet with room for more: a
/// third of the time of a full one at 10 Gb/s (45 frames of 1.21 us), and the sleep takes longer
/// than requested, so that it is mostly full. With all of that, one flow of BBR, whose window is
/// two round trips of an idle path, is a tenth faster, and one of Cubic as fast.
const SUPER_PACKET_SPAN: Span = Span::from_us(15);

/// The same where several left one by one: there is only the wake to be saved, not the work.
const WAKE_SPAN: Span = Span::from_us(20);

/// A received packet of which only some frames have been handed on.
struct Unfinished {
    offload: Result<Offload, UnknownGso>,
    bytes: Vec<u8>,
    /// The number of the next frame.
    next: usize,
}

/// A frame on its way out. The device has carried what its port of arrival knew of it.
struct Departing(Frame);

impl Outgoing for Departing {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    fn tail(&self) -> Option<Tail> {
        let Seal { length_bytes, value } = self.0.seal()?;
        Some(Tail { length_bytes, note: Note::from_bits(value)? })
    }
}

/// Frames that are collected before they are given to the kernel together: some super-packets' worth,
/// few enough to stay in the processor's cache.
const SEND_BATCH_SIZE: usize = 256;

impl Link {
    /// A port on an opened netdev.
    pub fn new(port: PortId, socket: PacketSocket, device: DeviceUse) -> Link {
        prepare(&socket, device);
        Link {
            port,
            name: socket.netdev().name().to_owned(),
            socket: Some(socket),
            up: true,
            is_unusable: false,
            device,
            outgoing: Vec::new(),
            is_cautious: false,
            unfinished: VecDeque::new(),
            gathers_until: Time::ZERO,
            counters: NetdevCounters::default(),
        }
    }

    /// The descriptor to poll; negative, which is never ready, while there is no netdev.
    pub fn descriptor(&self) -> RawFd {
        self.socket.as_ref().map_or(-1, PacketSocket::as_raw_fd)
    }

    /// Whether the netdev is there and could not be opened.
    pub fn is_unusable(&self) -> bool {
        self.is_unusable
    }

    /// The netdev's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Follows the netdev to its present state. Returns whether the port is up if that changed.
    pub fn follow(&mut self, state: Option<LinkState>) -> Option<bool> {
        let (port, name) = (self.port.0, &self.name);
        let index = state.map(|state| state.index);
        if self.socket.as_ref().is_some_and(|socket| Some(socket.netdev().index()) != index) {
            tracing::warn!(port, name, "the network device is gone; waiting for one of its name");
            self.counters.overrun += self.take_overrun();
            self.socket = None;
        }
        if let (None, Some(_)) = (&self.socket, state) {
            match PacketSocket::open(&self.name) {
                Ok(socket) => {
                    prepare(&socket, self.device);
                    self.socket = Some(socket);
                    self.is_unusable = false;
                }
                // It is tried again, because there is no notice of free descriptors.
                Err(error) => {
                    if !std::mem::replace(&mut self.is_unusable, true) {
                        tracing::warn!(port, %error, "the network device is unusable");
                    }
                }
            }
        }
        self.is_unusable &= state.is_some();
        if let (Some(socket), Some(state)) = (&mut self.socket, state) {
            socket.set_mtu(state.mtu);
        }
        let up = self.socket.is_some() && state.is_some_and(|state| state.carries);
        if up == self.up {
            return None;
        }
        self.up = up;
        tracing::info!(port, name = self.name, "port is {}", if up { "up" } else { "down" });
        Some(up)
    }

    /// Takes what has arrived, at most one batch.
    pub fn receive(&mut self, batch: &mut ReceiveBatch) {
        batch.clear();
        let Some(socket) = &mut self.socket else { return };
        if let Err(error) = socket.receive(batch) {
            // A device that is down says so once; a packet that AF_PACKET has no words for (a
            // super-packet of SCTP) is lost with an error in its place.
            let (port, name) = (self.port.0, &self.name);
            if error.kind() == std::io::ErrorKind::InvalidInput {
                if self.counters.malformed == 0 {
                    tracing::warn!(
                        port,
                        name,
                        "a super-packet, probably of SCTP, cannot be taken and is lost: `ethtool -K \
                         DEVICE tx-sctp-segmentation off` on the host makes it send single packets"
                    );
                }
                self.counters.malformed += 1;
            }
            tracing::debug!(port, name, %error, "cannot receive");
        }
    }

    /// Hands on the frames of one received packet, in order, at most as many as `budget` allows;
    /// the others stay here. Bytes that are no frame are counted.
    pub fn split(
        &mut self,
        (offload, bytes): ReceivedPacket<'_>,
        budget: &mut usize,
        frame: impl FnMut(&Piece<'_>, Option<Seal>),
    ) {
        let left = match *budget {
            0 => Some(0),
            _ => self.split_from(0, (&offload, bytes), budget, frame),
        };
        if let Some(next) = left {
            self.unfinished.push_back(Unfinished { offload, bytes: bytes.to_vec(), next });
        }
    }

    /// The same with the rest of the last turn.
    pub fn split_unfinished(
        &mut self,
        budget: &mut usize,
        mut frame: impl FnMut(&Piece<'_>, Option<Seal>),
    ) {
        while *budget > 0 {
            let Some(mut first) = self.unfinished.pop_front() else { return };
            let packet = (&first.offload, first.bytes.as_mut_slice());
            if let Some(next) = self.split_from(first.next, packet, budget, &mut frame) {
                first.next = next;
                self.unfinished.push_front(first);
            }
        }
    }

    /// Whether frames are left for the next turn.
    pub fn is_unfinished(&self) -> bool {
        !self.unfinished.is_empty()
    }

    /// Hands on the frames from number `first` on. Returns the number to go on with if some are left.
    fn split_from(
        &mut self,
        first: usize,
        (offload, bytes): (&Result<Offload, UnknownGso>, &mut [u8]),
        budget: &mut usize,
        mut frame: impl FnMut(&Piece<'_>, Option<Seal>),
    ) -> Option<usize> {
        let counters = &mut self.counters;
        let range = first..first.saturating_add(*budget);
        let split = offload.as_ref().map_err(ToString::to_string).and_then(|offload| {
            let emit = |piece: &Piece<'_>| {
                *budget = budget.saturating_sub(1);
                // An unsplit packet is longer than any frame, and still correct.
                let whole = matches!(piece.tail(), Some(Tail { note: Note::Unsplit { .. }, .. }));
                match piece.length_bytes() {
                    length if length < FRAME_SIZE_BYTES_MIN => counters.runts += 1,
                    length if length > FRAME_SIZE_BYTES_MAX && !whole => counters.oversize += 1,
                    _ => {
                        counters.received += 1;
                        frame(piece, piece.tail().map(seal));
                    }
                }
            };
            segment::split_some(bytes, *offload, range, emit).map_err(|error| error.to_string())
        });
        split.unwrap_or_else(|reason| {
            *budget = budget.saturating_sub(1);
            self.counters.malformed += 1;
            tracing::debug!(port = self.port.0, reason, "a packet cannot become frames");
            None
        })
    }

    /// Collects a frame to be sent. Returns whether it is time to flush.
    pub fn send(&mut self, frame: Frame) -> bool {
        self.outgoing.push(Departing(frame));
        self.is_cautious || self.outgoing.len() >= SEND_BATCH_SIZE
    }

    /// Whether frames wait because the socket had no room for them.
    pub fn is_stalled(&self) -> bool {
        self.is_cautious && !self.outgoing.is_empty()
    }

    /// Until when frames are collected instead of sent at `now`; none if they are sent at once.
    pub fn gathers_until(&self, now: Time) -> Option<Time> {
        Some(self.gathers_until).filter(|until| *until > now)
    }

    /// Whether anything is collected.
    pub fn holds_frames(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Gives everything that is collected to the kernel; what is done with goes to `recycle`.
    pub fn flush(&mut self, now: Time, sending: &mut SendBatch, recycle: impl FnMut(Frame)) {
        if self.outgoing.is_empty() {
            return;
        }
        let mut done = self.outgoing.len();
        match &mut self.socket {
            None => self.counters.refused_down += self.outgoing.len() as u64,
            Some(socket) => {
                let outcome = socket.send(&self.outgoing, sending);
                done -= outcome.waiting;
                self.is_cautious |= outcome.waiting > 0;
                self.counters.sent += outcome.sent;
                self.gathers_until = now + gathering_span(self.outgoing.len(), outcome.last);
                if let Some(error) = &outcome.error {
                    self.complain(outcome.refused, error);
                }
            }
        }
        self.outgoing.drain(..done).map(|departing| departing.0).for_each(recycle);
    }

    /// Ends the link; frames that were not sent are lost with the device and go to `recycle`.
    pub fn close(&mut self, recycle: impl FnMut(Frame)) -> Option<PacketSocket> {
        self.outgoing.drain(..).map(|departing| departing.0).for_each(recycle);
        self.socket.take()
    }

    /// A wake is over: who has nothing left to send need not be careful at the next.
    pub fn settle(&mut self) {
        self.is_cautious = self.is_stalled();
    }

    /// The counters, those that the kernel keeps included, and what waits at this instant.
    pub fn counters(&mut self) -> NetdevCounters {
        self.counters.overrun += self.take_overrun();
        let waiting = self.socket.as_ref().and_then(|socket| socket.waiting().ok());
        let Waiting { arrived_bytes, leaving_bytes } = waiting.unwrap_or_default();
        let lengths = self.outgoing.iter().map(|departing| departing.bytes().len() as u64);
        NetdevCounters {
            waiting_bytes: arrived_bytes,
            sending_bytes: leaving_bytes + lengths.sum::<u64>(),
            unfinished: self.unfinished.len() as u64,
            ..self.counters
        }
    }

    fn take_overrun(&self) -> u64 {
        self.socket.as_ref().and_then(|socket| socket.take_lost_count().ok()).unwrap_or(0)
    }

    /// Counts frames that the kernel refused, and says so once where a user can do something about
    /// it.
    fn complain(&mut self, refused: Refused, error: &std::io::Error) {
        let (port, name) = (self.port.0, &self.name);
        if self.counters.refused_too_long == 0 && refused.too_long > 0 {
            tracing::warn!(
                port,
                name,
                "frames are longer than the device's MTU allows and are lost: `ip link set {name} \
                 mtu 9216` makes room"
            );
        }
        if self.counters.refused_unsplit == 0 && refused.unsplit > 0 {
            tracing::warn!(
                port,
                name,
                "super-packets in a tunnel that is not understood are lost: `ethtool -K DEVICE tso \
                 off gso off` on the host makes it send single packets"
            );
        }
        tracing::debug!(port, name, %error, "the kernel refused frames");
        let Refused { down, full, runt, too_long, unsplit, other } = refused;
        self.counters.refused_down += down;
        self.counters.refused_full += full;
        self.counters.refused_runt += runt;
        self.counters.refused_too_long += too_long;
        self.counters.refused_unsplit += unsplit;
        self.counters.refused_other += other;
    }
}

/// How long to gather frames after `count` have left, the last of them so.
fn gathering_span(count: usize, last: Gathering) -> Span {
    match last {
        Gathering::Open => SUPER_PACKET_SPAN,
        Gathering::Alone if count > 1 => WAKE_SPAN,
        // Nothing would have been added, or there is nothing to add to.
        Gathering::Alone | Gathering::Complete => Span::ZERO,
    }
}

fn seal(tail: Tail) -> Seal {
    Seal { length_bytes: tail.length_bytes, value: tail.note.to_bits() }
}

/// Best effort: a kernel that takes no bound keeps its own.
fn prepare(socket: &PacketSocket, device: DeviceUse) {
    let name = socket.netdev().name();
    if let Some(Err(error)) = device.backlog_bytes.map(|bytes| socket.bound_sending(bytes)) {
        tracing::warn!(name, %error, "the send buffer has another size");
    }
    if device.hears_this_end
        && let Err(error) = socket.hear_this_end()
    {
        tracing::warn!(name, %error, "what is sent at this end of the cable is not received");
    }
}
