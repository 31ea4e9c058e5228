//! Giving frames to a device: neighbours that belong together as one super-packet, many packets in
//! one call, and nothing copied on the way. A super-packet is gathered by the kernel from its new
//! headers and from the payloads where they lie.

use std::io;
use std::mem::zeroed;
use std::os::fd::AsRawFd;

use crate::merge::{Known, Merging, SuperPacket};
use crate::offload::HEADER_SIZE_BYTES;
use crate::socket::PacketSocket;
use crate::tail::Tail;

/// Packets given to the kernel in one call (`UIO_MAXIOV` would allow 1024).
const MESSAGE_COUNT_MAX: usize = 256;

/// Something to send.
pub trait Outgoing {
    fn bytes(&self) -> &[u8];

    /// The facts about its end that were found on arrival and still hold.
    fn tail(&self) -> Option<Tail>;
}

/// Bytes alone: nothing is known of them.
impl<T: AsRef<[u8]>> Outgoing for T {
    fn bytes(&self) -> &[u8] {
        self.as_ref()
    }

    fn tail(&self) -> Option<Tail> {
        None
    }
}

/// The fates of the frames given to [`PacketSocket::send`]. Each of them is counted once.
#[derive(Debug, Default)]
pub struct SendOutcome {
    /// Frames that the kernel took.
    pub sent: u64,
    /// How the last of them left.
    pub last: Gathering,
    /// Frames that it did not, by reason.
    pub refused: Refused,
    /// The number of frames at the end for which the socket has no room yet: to be given again when
    /// it can be written to.
    pub waiting: usize,
    /// The kernel's last word on a refused frame.
    pub error: Option<io::Error>,
}

/// Whether frames were gathered into a super-packet, and whether more would have fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gathering {
    /// A frame by itself.
    #[default]
    Alone,
    /// A super-packet to which nothing could have been added.
    Complete,
    /// A super-packet that had room for more.
    Open,
}

/// Frames that the kernel did not take, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// The device is down or gone.
    pub down: u64,
    /// The device's own queue is full.
    pub full: u64,
    /// Shorter than an Ethernet header.
    pub runt: u64,
    /// Longer than the device's MTU allows.
    pub too_long: u64,
    /// Super-packets that were not split on the way in, and whose headers the kernel does not
    /// understand either.
    pub unsplit: u64,
    /// Anything else.
    pub other: u64,
}

impl Refused {
    pub fn total(&self) -> u64 {
        let Refused { down, full, runt, too_long, unsplit, other } = *self;
        down + full + runt + too_long + unsplit + other
    }

    fn count(&mut self, error: &io::Error, group: &Group) {
        let counter = match error.raw_os_error() {
            Some(libc::ENETDOWN | libc::ENODEV | libc::ENXIO) => &mut self.down,
            Some(libc::ENOBUFS) => &mut self.full,
            _ if group.is_unsplit() => &mut self.unsplit,
            Some(libc::EMSGSIZE) => &mut self.too_long,
            Some(libc::EINVAL) => &mut self.runt,
            _ => &mut self.other,
        };
        *counter += group.count as u64;
    }
}

/// Room for planning what to send. One serves all sockets of a thread in turn.
#[derive(Default)]
pub struct SendBatch {
    groups: Vec<Group>,
    vectors: Vec<libc::iovec>,
    messages: Vec<libc::mmsghdr>,
}

/// Frames that leave as one packet.
struct Group {
    first: usize,
    count: usize,
    /// Not for a frame that nothing could be merged with.
    packet: Option<SuperPacket>,
    offload: [u8; HEADER_SIZE_BYTES],
}

impl Group {
    /// Whether it is a super-packet that came in as such.
    fn is_unsplit(&self) -> bool {
        self.count == 1 && self.offload != [0; HEADER_SIZE_BYTES]
    }

    fn gathering(&self) -> Gathering {
        match &self.packet {
            Some(packet) if self.count > 1 && packet.has_room() => Gathering::Open,
            Some(_) if self.count > 1 => Gathering::Complete,
            _ => Gathering::Alone,
        }
    }
}

// SAFETY: the raw pointers in `vectors` and `messages` are made and used within one call of
// `PacketSocket::send`; between calls they are not followed.
unsafe impl Send for SendBatch {}

impl PacketSocket {
    /// Gives complete frames to the device, in order.
    ///
    /// A frame that the kernel refuses does not keep back those behind it. A super-packet of a kind
    /// that the kernel does not know is taken apart again, and no other of that kind is made.
    /// A full socket ends the call: what is left is [`SendOutcome::waiting`].
    pub fn send<F: Outgoing>(&mut self, frames: &[F], batch: &mut SendBatch) -> SendOutcome {
        let mut outcome = SendOutcome::default();
        let mut from = 0;
        while from < frames.len() && outcome.waiting == 0 {
            let frames = &frames[from..];
            batch.plan(frames, self.merging, self.mtu);
            batch.point_at(frames);
            from += self.send_planned(batch, &mut outcome);
        }
        outcome
    }

    /// Sends the groups of the plan. Returns how many frames are dealt with: all, unless a kind of
    /// super-packet proved unknown and the rest must be planned anew, or the socket is full.
    fn send_planned(&mut self, batch: &mut SendBatch, outcome: &mut SendOutcome) -> usize {
        let frame_count = batch.groups.last().map_or(0, |group| group.first + group.count);
        let mut at = 0;
        while let Some(group) = batch.groups.get(at) {
            let count = (batch.messages.len() - at).min(MESSAGE_COUNT_MAX);
            // SAFETY: the messages from `at` on point at vectors, and these at headers and frames,
            // which `send` holds borrowed for the whole call; the kernel only reads them.
            let taken = unsafe {
                libc::sendmmsg(
                    self.as_raw_fd(),
                    batch.messages[at..].as_mut_ptr(),
                    count as libc::c_uint,
                    libc::MSG_DONTWAIT,
                )
            };
            if let Ok(taken) = usize::try_from(taken) {
                let groups = &batch.groups[at..at + taken];
                outcome.sent += groups.iter().map(|group| group.count as u64).sum::<u64>();
                outcome.last = groups.last().map_or(Gathering::Alone, Group::gathering);
                at += taken;
                continue;
            }
            let error = io::Error::last_os_error();
            match &group.packet {
                Some(packet) if group.count > 1 && is_about_kind(&error) => {
                    match packet.is_udp() {
                        true => self.merging.udp = false,
                        false => self.merging.tcp = false,
                    }
                    return group.first;
                }
                _ if error.kind() == io::ErrorKind::WouldBlock => {
                    outcome.waiting = frame_count - group.first;
                    return group.first;
                }
                _ => {
                    outcome.refused.count(&error, group);
                    outcome.error = Some(error);
                    at += 1;
                }
            }
        }
        frame_count
    }
}

impl SendBatch {
    /// Room that grows with use.
    pub fn new() -> SendBatch {
        SendBatch::default()
    }

    /// Decides which frames leave together.
    fn plan<F: Outgoing>(&mut self, frames: &[F], merging: Merging, mtu: usize) {
        self.groups.clear();
        for (index, frame) in frames.iter().enumerate() {
            let frame = known(frame);
            if let Some(group) = self.groups.last_mut()
                && let Some(packet) = &mut group.packet
                && packet.take(known(&frames[group.first]), frame)
            {
                group.count += 1;
                continue;
            }
            let unsplit = frame.tail.and_then(|tail| tail.header_of(frame.bytes));
            let packet = match unsplit.is_none() && frame_fits(frame.bytes, mtu) {
                true => SuperPacket::begin(frame.bytes).filter(|packet| merging.allows(packet)),
                // The kernel would not look at the length of a super-packet's pieces.
                false => None,
            };
            // Nothing is left to the hardware, unless nothing was done for it here.
            let offload = unsplit.unwrap_or_default();
            self.groups.push(Group { first: index, count: 1, packet, offload });
        }
    }

    /// Points vectors at headers and payloads, then messages at vectors. The pointers hold until
    /// the plan or the frames change.
    fn point_at<F: Outgoing>(&mut self, frames: &[F]) {
        self.vectors.clear();
        for group in &mut self.groups {
            let first = frames[group.first].bytes();
            match &mut group.packet {
                Some(packet) if group.count > 1 => {
                    let head_size = packet.head_size();
                    let (offload, head) = packet.finish();
                    group.offload = offload;
                    self.vectors.push(vector(&group.offload));
                    self.vectors.push(vector(head));
                    let members = &frames[group.first..group.first + group.count];
                    self.vectors.extend(members.iter().map(|f| vector(&f.bytes()[head_size..])));
                }
                _ => self.vectors.extend([vector(&group.offload), vector(first)]),
            }
        }
        self.messages.clear();
        let mut at = 0;
        for group in &self.groups {
            let vector_count = if group.count > 1 { group.count + 2 } else { 2 };
            // SAFETY: all-zero bytes are a valid `mmsghdr`.
            let mut message: libc::mmsghdr = unsafe { zeroed() };
            message.msg_hdr.msg_iov = self.vectors[at..].as_mut_ptr();
            message.msg_hdr.msg_iovlen = vector_count as _;
            self.messages.push(message);
            at += vector_count;
        }
    }
}

fn known<F: Outgoing>(frame: &F) -> Known<'_> {
    Known { bytes: frame.bytes(), tail: frame.tail() }
}

/// Whether a device takes the frame by itself: a VLAN tag is not counted, a second one is.
fn frame_fits(frame: &[u8], mtu: usize) -> bool {
    let tag = if frame.get(12..14) == Some(&[0x81, 0x00]) { 4 } else { 0 };
    frame.len() <= mtu + 14 + tag
}

/// The kernel only reads what it is pointed at here, whatever the type says.
fn vector(bytes: &[u8]) -> libc::iovec {
    libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() }
}

/// Whether the kernel minds the kind of the super-packet, not the state of the device.
fn is_about_kind(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP))
}
