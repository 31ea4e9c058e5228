//! Whether network devices exist, are up and have a carrier: read from the kernel, and notified by
//! it.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

/// A device's present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkState {
    /// The kernel's number for it. A device that was removed and made again has another one.
    pub index: i32,
    /// Administratively up, and with a carrier.
    pub carries: bool,
    /// The longest IP packet in bytes.
    pub mtu: usize,
}

/// A netlink socket that becomes readable whenever a device of this namespace comes, goes or
/// changes.
pub struct LinkWatch {
    fd: OwnedFd,
}

impl LinkWatch {
    /// Listens from now on.
    pub fn new() -> io::Result<LinkWatch> {
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: no pointers; the result is checked before it is used.
        let fd = unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` was just opened and has no other owner.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: all-zero bytes are a valid `sockaddr_nl`.
        let mut address: libc::sockaddr_nl = unsafe { zeroed() };
        address.nl_family = libc::AF_NETLINK as libc::sa_family_t;
        address.nl_groups = libc::RTMGRP_LINK as u32;
        // SAFETY: the address is a live `sockaddr_nl` and its size is given.
        let result = unsafe {
            libc::bind(
                fd.as_raw_fd(),
                ptr::from_ref(&address).cast(),
                size_of::<libc::sockaddr_nl>() as libc::socklen_t,
            )
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(LinkWatch { fd }) }
    }

    /// Takes all messages. Their contents are not read: after a change the states are read, which
    /// also works when messages were lost.
    pub fn take_changes(&self) {
        let mut message = [0u8; 4096];
        loop {
            // SAFETY: the kernel writes at most the given length into `message`, and cuts the rest.
            let length = unsafe {
                libc::recv(self.fd.as_raw_fd(), message.as_mut_ptr().cast(), message.len(), 0)
            };
            let lost_some = || io::Error::last_os_error().raw_os_error() == Some(libc::ENOBUFS);
            if length <= 0 && !lost_some() {
                return;
            }
        }
    }

    /// The state of the device called `name`, if there is one.
    pub fn state(&self, name: &str) -> Option<LinkState> {
        state(self.fd.as_raw_fd(), name)
    }
}

impl AsRawFd for LinkWatch {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// The state of the device called `name`, if there is one. `fd` is any socket.
pub(crate) fn state(fd: RawFd, name: &str) -> Option<LinkState> {
    let index = ask(fd, name, libc::SIOCGIFINDEX)?;
    let flags = ask(fd, name, libc::SIOCGIFFLAGS)?;
    let mtu = ask(fd, name, libc::SIOCGIFMTU)?;
    // SAFETY: the kernel has filled in the member that each request is about; all are numbers.
    let (index, flags, mtu) =
        unsafe { (index.ifr_ifru.ifru_ifindex, flags.ifr_ifru.ifru_flags, mtu.ifr_ifru.ifru_mtu) };
    let both = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    Some(LinkState { index, carries: flags & both == both, mtu: usize::try_from(mtu).unwrap_or(0) })
}

fn ask(fd: RawFd, name: &str, what: libc::Ioctl) -> Option<libc::ifreq> {
    let mut request = request_for(name)?;
    // SAFETY: these requests read and write one `ifreq`, and `request` is one.
    let result = unsafe { libc::ioctl(fd, what, ptr::from_mut(&mut request)) };
    (result >= 0).then_some(request)
}

/// A question about the device called `name`; no device has a name that is too long.
pub(crate) fn request_for(name: &str) -> Option<libc::ifreq> {
    // SAFETY: all-zero bytes are a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { zeroed() };
    if name.is_empty() || name.len() >= request.ifr_name.len() {
        return None;
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Some(request)
}
