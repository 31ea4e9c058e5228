//! A network device by name, and the one offload of it that must be off.

use std::ffi::CString;
use std::fmt;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::net::UnixDatagram;
use std::ptr;

use crate::link_watch::request_for;

// linux/sockios.h and linux/ethtool.h; libc does not carry these.
pub(crate) const SIOCETHTOOL: libc::Ioctl = 0x8946;
const ETHTOOL_GET_FLAGS: u32 = 0x25;
const ETHTOOL_SET_FLAGS: u32 = 0x26;
const FLAG_LARGE_RECEIVE_OFFLOAD: u32 = 1 << 15;

/// `struct ethtool_value`.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// A network device of this machine (of the network namespace the process runs in).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Netdev {
    name: String,
    index: i32,
}

/// Why a device cannot become a port: what was tried, on which device, what to do.
#[derive(Debug)]
pub enum OpenError {
    /// No device of that name.
    Missing(String),
    /// The device merges received packets in a way that cannot be undone.
    LargeReceiveOffload(String),
    /// The process may not open packet sockets.
    NotPermitted(String),
    /// The process, or the machine, has no descriptor left.
    TooManyFiles(String),
    /// Anything else the kernel answered.
    Refused {
        name: String,
        /// The step that failed.
        step: &'static str,
        source: io::Error,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Missing(name) => {
                write!(f, "there is no network device `{name}` here: `ip link` lists the devices")
            }
            OpenError::LargeReceiveOffload(name) => write!(
                f,
                "`{name}` merges what it receives so that the packets cannot be told apart again, \
                 and does not let this be switched off: try `ethtool -K {name} lro off`"
            ),
            OpenError::NotPermitted(name) => write!(
                f,
                "no permission to open a packet socket on `{name}`: run as root or with CAP_NET_RAW"
            ),
            OpenError::TooManyFiles(name) => write!(
                f,
                "too many files are open for `{name}` to be opened as well: `ulimit -n` raises the \
                 limit"
            ),
            OpenError::Refused { name, step, source } => {
                write!(f, "cannot {step} on `{name}`: {source}")
            }
        }
    }
}

impl std::error::Error for OpenError {}

impl OpenError {
    /// The kernel's refusal of a step.
    pub(crate) fn refused(name: &str, step: &'static str, source: io::Error) -> OpenError {
        let name = name.to_owned();
        match source.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => OpenError::NotPermitted(name),
            Some(libc::EMFILE | libc::ENFILE) => OpenError::TooManyFiles(name),
            _ => OpenError::Refused { name, step, source },
        }
    }
}

impl Netdev {
    /// Looks the device up.
    pub fn find(name: &str) -> Result<Netdev, OpenError> {
        let missing = || OpenError::Missing(name.to_owned());
        let c_name = CString::new(name).map_err(|_| missing())?;
        // SAFETY: `c_name` is a NUL-terminated string that outlives the call.
        let index = unsafe { libc::if_nametoindex(c_name.as_ptr()) };
        match i32::try_from(index) {
            Ok(index) if index > 0 => Ok(Netdev { name: name.to_owned(), index }),
            // The C library asks through a socket of its own, and does not say where it got none.
            _ => match UnixDatagram::unbound() {
                Err(error) => Err(OpenError::refused(name, "look for the device", error)),
                Ok(_) => Err(missing()),
            },
        }
    }

    /// Sees to it that large receive offload is off: unlike super-packets of GRO and GSO, what it
    /// merges does not say how it was. `fd` is any socket. A device without the notion is fine.
    pub(crate) fn forbid_large_receive_offload(&self, fd: RawFd) -> Result<(), OpenError> {
        let Some(flags) = self.ethtool(fd, ETHTOOL_GET_FLAGS, 0) else { return Ok(()) };
        if flags & FLAG_LARGE_RECEIVE_OFFLOAD == 0 {
            return Ok(());
        }
        match self.ethtool(fd, ETHTOOL_SET_FLAGS, flags & !FLAG_LARGE_RECEIVE_OFFLOAD) {
            Some(_) => Ok(()),
            None => Err(OpenError::LargeReceiveOffload(self.name.clone())),
        }
    }

    /// Carries out one command with one number; `None` if the kernel refuses it.
    fn ethtool(&self, fd: RawFd, command: u32, data: u32) -> Option<u32> {
        let mut value = EthtoolValue { command, data };
        let mut request = request_for(&self.name)?;
        request.ifr_ifru.ifru_data = ptr::from_mut(&mut value).cast();
        // SAFETY: the request points at an `ethtool_value` that lives beyond the call, which is
        // what both commands read and write.
        let result = unsafe { libc::ioctl(fd, SIOCETHTOOL, ptr::from_mut(&mut request)) };
        (result >= 0).then_some(value.data)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kernel's number for it.
    pub fn index(&self) -> i32 {
        self.index
    }
}
