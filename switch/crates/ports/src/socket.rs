//! An AF_PACKET socket bound to one device: set up, and batches in, never blocking. `send.rs` has the
//! way out.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use wire::{EtherType, ethernet, vlan};

use crate::SUPER_PACKET_SIZE_BYTES_MAX;
use crate::link_watch;
use crate::merge::Merging;
use crate::netdev::{Netdev, OpenError};
use crate::offload::{HEADER_SIZE_BYTES, Offload, UnknownGso};

/// Packets taken from a port in one call at the most: as many as there are buffers for.
const RECEIVE_BATCH_SIZE: usize = 64;
/// Bytes taken from a port in one call, about: where super-packets are among them, eight full ones.
const RECEIVE_BATCH_SIZE_BYTES: usize = 512 << 10;
/// The kernel's socket buffers. A packet waiting here is not yet in the router: the buffer must
/// only bridge the moments in which the process is not running.
const SOCKET_BUFFER_SIZE_BYTES: libc::c_int = 32 << 20;
/// Room before a frame into which a VLAN tag that the kernel took off is put back.
const HEADROOM_BYTES: usize = vlan::TAG_SIZE_BYTES;
const CONTROL_SIZE_BYTES: usize = 64;

// linux/if_packet.h; libc does not carry these.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
// asm-generic/socket.h, and how many numbers it stands for: SK_MEMINFO_VARS of linux/sock_diag.h.
const SO_MEMINFO: libc::c_int = 55;
const SK_MEMINFO_VARS: usize = 9;
const TP_STATUS_VLAN_VALID: u32 = 1 << 4;
const TP_STATUS_VLAN_TPID_VALID: u32 = 1 << 6;

/// One device's socket.
pub struct PacketSocket {
    fd: OwnedFd,
    netdev: Netdev,
    /// Which super-packets the device's kernel takes.
    pub(crate) merging: Merging,
    /// The longest IP packet that the device takes.
    pub(crate) mtu: usize,
    /// The largest of the last packets; the next ones are expected to be like them.
    expected_size_bytes: usize,
}

impl PacketSocket {
    /// Opens the device called `name`, promiscuous, with super-packets allowed.
    pub fn open(name: &str) -> Result<PacketSocket, OpenError> {
        let netdev = Netdev::find(name)?;
        let refused = |step| move |source| OpenError::refused(name, step, source);
        // Protocol 0: nothing arrives before the socket is bound, set up and ready.
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: no pointers; the result is checked before it is used.
        let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if fd < 0 {
            return Err(refused("open a packet socket")(io::Error::last_os_error()));
        }
        // SAFETY: `fd` was just opened and has no other owner.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let mtu = link_watch::state(fd.as_raw_fd(), name).map_or(0, |state| state.mtu);
        let expected_size_bytes = SUPER_PACKET_SIZE_BYTES_MAX;
        let socket = PacketSocket { fd, netdev, merging: Merging::ALL, mtu, expected_size_bytes };

        socket.netdev.forbid_large_receive_offload(socket.as_raw_fd())?;
        socket
            .set(libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1i32)
            .map_err(refused("switch super-packets on"))?;
        socket
            .set(libc::SOL_PACKET, libc::PACKET_AUXDATA, &1i32)
            .map_err(refused("ask for VLAN tags"))?;
        socket
            .set(libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1i32)
            .map_err(refused("ignore our own frames"))?;
        let membership = libc::packet_mreq {
            mr_ifindex: socket.netdev.index(),
            mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        socket
            .set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)
            .map_err(refused("listen to all addresses"))?;
        socket.enlarge_buffers();
        socket.bind().map_err(refused("bind"))?;
        Ok(socket)
    }

    pub fn netdev(&self) -> &Netdev {
        &self.netdev
    }

    /// The device's MTU is another one now.
    pub fn set_mtu(&mut self, mtu: usize) {
        self.mtu = mtu;
    }

    fn set<T>(&self, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
        // SAFETY: the kernel reads `size_of::<T>()` bytes at `value`, which is a live reference.
        let result = unsafe {
            libc::setsockopt(
                self.fd.as_raw_fd(),
                level,
                option,
                ptr::from_ref(value).cast(),
                size_of::<T>() as libc::socklen_t,
            )
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Best effort: without CAP_NET_ADMIN the kernel keeps its smaller default, which costs only
    /// packets counted by [`PacketSocket::take_lost_count`].
    fn enlarge_buffers(&self) {
        let _ = self.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &SOCKET_BUFFER_SIZE_BYTES);
        let _ = self.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SOCKET_BUFFER_SIZE_BYTES);
    }

    /// Also hears packets that other programs of this machine send through the device, as libpcap
    /// does. Those that this socket sends do not come back to it.
    pub fn hear_this_end(&self) -> io::Result<()> {
        self.set(libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &0i32)
    }

    /// Lets about this many bytes wait in the kernel, in all queues of the device; for more the
    /// socket has no room ([`SendOutcome::waiting`](crate::SendOutcome::waiting)).
    pub fn bound_sending(&self, size_bytes: usize) -> io::Result<()> {
        // The kernel doubles the number, because it counts its own bookkeeping, too.
        self.set(libc::SOL_SOCKET, libc::SO_SNDBUF, &((size_bytes / 2) as libc::c_int))
    }

    fn bind(&self) -> io::Result<()> {
        // SAFETY: all-zero bytes are a valid `sockaddr_ll`.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as libc::c_ushort;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = self.netdev.index();
        // SAFETY: the address is a live `sockaddr_ll` and its size is given.
        let result = unsafe {
            libc::bind(
                self.fd.as_raw_fd(),
                ptr::from_ref(&address).cast(),
                size_of::<libc::sockaddr_ll>() as libc::socklen_t,
            )
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Packets that the kernel lost because its socket buffer was full, since the last call.
    pub fn take_lost_count(&self) -> io::Result<u64> {
        // SAFETY: all-zero bytes are a valid `tpacket_stats`.
        let mut stats: libc::tpacket_stats = unsafe { zeroed() };
        let mut size = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: the kernel writes at most `size` bytes into `stats`.
        let result = unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                ptr::from_mut(&mut stats).cast(),
                &mut size,
            )
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(stats.tp_drops.into()) }
    }

    /// The bytes that the kernel holds for the socket now.
    pub fn waiting(&self) -> io::Result<Waiting> {
        let mut numbers = [0u32; SK_MEMINFO_VARS];
        let mut size = size_of_val(&numbers) as libc::socklen_t;
        // SAFETY: the kernel writes at most `size` bytes into `numbers`.
        let result = unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_SOCKET,
                SO_MEMINFO,
                numbers.as_mut_ptr().cast(),
                &mut size,
            )
        };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        let number = |index: libc::c_int| u64::from(numbers[index as usize]);
        Ok(Waiting {
            arrived_bytes: number(libc::SK_MEMINFO_RMEM_ALLOC),
            leaving_bytes: number(libc::SK_MEMINFO_WMEM_ALLOC),
        })
    }

    /// Takes what has arrived, at most one batch. Returns how many packets `batch` now holds.
    pub fn receive(&mut self, batch: &mut ReceiveBatch) -> io::Result<usize> {
        let wanted =
            (RECEIVE_BATCH_SIZE_BYTES / self.expected_size_bytes).clamp(1, RECEIVE_BATCH_SIZE);
        batch.prepare(wanted);
        // SAFETY: `prepare` has pointed every message at buffers that `batch` owns and keeps.
        let count = unsafe {
            libc::recvmmsg(
                self.fd.as_raw_fd(),
                batch.messages.as_mut_ptr(),
                wanted as libc::c_uint,
                libc::MSG_DONTWAIT,
                ptr::null_mut(),
            )
        };
        if count < 0 {
            let error = io::Error::last_os_error();
            let nothing_there =
                matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted);
            return if nothing_there { Ok(0) } else { Err(error) };
        }
        batch.count = count as usize;
        if let Some(longest) = batch.longest_bytes() {
            self.expected_size_bytes = longest.max(1);
        }
        Ok(batch.count)
    }
}

/// The bytes that wait in the kernel, in its buffers, which are larger than the packets in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Received and not taken yet.
    pub arrived_bytes: u64,
    /// Sent and not taken by the device yet.
    pub leaving_bytes: u64,
}

impl AsRawFd for PacketSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// The work that is left to do to a packet, and its bytes.
pub type ReceivedPacket<'a> = (Result<Offload, UnknownGso>, &'a mut [u8]);

/// Buffers for one batch of received packets. One serves all sockets of a thread in turn.
pub struct ReceiveBatch {
    slots: Vec<Slot>,
    vectors: Vec<[libc::iovec; 2]>,
    messages: Vec<libc::mmsghdr>,
    /// How many slots the last call filled.
    count: usize,
}

struct Slot {
    header: [u8; HEADER_SIZE_BYTES],
    /// `HEADROOM_BYTES` of room, then the packet.
    packet: Box<[u8]>,
    control: ControlBuffer,
}

/// Aligned as the kernel's control messages want it.
#[repr(align(8))]
struct ControlBuffer([u8; CONTROL_SIZE_BYTES]);

impl ReceiveBatch {
    /// Allocates the buffers: 4 MB, of which the kernel provides only what is filled.
    pub fn new() -> ReceiveBatch {
        let slot = || Slot {
            header: [0; HEADER_SIZE_BYTES],
            packet: vec![0; HEADROOM_BYTES + SUPER_PACKET_SIZE_BYTES_MAX].into_boxed_slice(),
            control: ControlBuffer([0; CONTROL_SIZE_BYTES]),
        };
        ReceiveBatch {
            slots: (0..RECEIVE_BATCH_SIZE).map(|_| slot()).collect(),
            // SAFETY: all-zero bytes are valid for both plain structures.
            vectors: vec![unsafe { zeroed() }; RECEIVE_BATCH_SIZE],
            // SAFETY: as above.
            messages: vec![unsafe { zeroed() }; RECEIVE_BATCH_SIZE],
            count: 0,
        }
    }

    /// Points this many messages at their slots; none holds a packet yet. The pointers are made
    /// anew for every call, so moving the batch in between does no harm.
    fn prepare(&mut self, wanted: usize) {
        self.clear();
        let slots = self.slots.iter_mut().zip(&mut self.vectors).zip(&mut self.messages);
        for ((slot, vector), message) in slots.take(wanted) {
            let packet = &mut slot.packet[HEADROOM_BYTES..];
            *vector = [
                libc::iovec {
                    iov_base: slot.header.as_mut_ptr().cast(),
                    iov_len: HEADER_SIZE_BYTES,
                },
                libc::iovec { iov_base: packet.as_mut_ptr().cast(), iov_len: packet.len() },
            ];
            message.msg_hdr.msg_iov = vector.as_mut_ptr();
            message.msg_hdr.msg_iovlen = 2;
            message.msg_hdr.msg_control = slot.control.0.as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = CONTROL_SIZE_BYTES;
            message.msg_len = 0;
        }
    }

    /// The longest of the packets it holds.
    fn longest_bytes(&self) -> Option<usize> {
        self.messages[..self.count].iter().map(|message| message.msg_len as usize).max()
    }

    /// Forgets the packets it holds.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// The received packets in order, VLAN tags put back: what is left to do to each, and its
    /// bytes. A packet whose kind of super-packet is unknown is an error in its place.
    pub fn packets(&mut self) -> impl Iterator<Item = ReceivedPacket<'_>> {
        self.slots.iter_mut().zip(&self.messages).take(self.count).map(|(slot, message)| {
            let length = (message.msg_len as usize).saturating_sub(HEADER_SIZE_BYTES);
            let mut offload = Offload::read(&slot.header);
            let Some(tag) = vlan_tag(&message.msg_hdr) else {
                return (offload, &mut slot.packet[HEADROOM_BYTES..HEADROOM_BYTES + length]);
            };
            // The addresses move into the headroom; the tag goes behind them.
            let tag_at = ethernet::ETHER_TYPE.start();
            slot.packet.copy_within(HEADROOM_BYTES..HEADROOM_BYTES + tag_at, 0);
            slot.packet[tag_at..tag_at + tag.len()].copy_from_slice(&tag);
            if let Ok(Offload { checksum: Some(task), .. }) = &mut offload {
                task.start += HEADROOM_BYTES as u16;
            }
            (offload, &mut slot.packet[..HEADROOM_BYTES + length])
        })
    }
}

impl Default for ReceiveBatch {
    fn default() -> ReceiveBatch {
        ReceiveBatch::new()
    }
}

/// The VLAN tag that the kernel took off the frame, if it did: TPID and TCI as on the wire.
fn vlan_tag(message: &libc::msghdr) -> Option<[u8; 4]> {
    // SAFETY: the kernel filled the control buffer and set its length; the CMSG functions stay
    // within it, and an auxdata message carries a whole `tpacket_auxdata`.
    let auxdata = unsafe {
        let mut control = libc::CMSG_FIRSTHDR(message);
        loop {
            let header = control.as_ref()?;
            if header.cmsg_level == libc::SOL_PACKET && header.cmsg_type == libc::PACKET_AUXDATA {
                break ptr::read_unaligned(
                    libc::CMSG_DATA(control).cast::<libc::tpacket_auxdata>(),
                );
            }
            control = libc::CMSG_NXTHDR(message, control);
        }
    };
    if auxdata.tp_status & TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let has_tpid = auxdata.tp_status & TP_STATUS_VLAN_TPID_VALID != 0;
    let tpid = if has_tpid { auxdata.tp_vlan_tpid } else { EtherType::C_VLAN.0 };
    let ([a, b], [c, d]) = (tpid.to_be_bytes(), auxdata.tp_vlan_tci.to_be_bytes());
    Some([a, b, c, d])
}
