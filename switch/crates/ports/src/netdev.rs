//! A network device by name.

use std::ffi::CString;
use std::fmt;
use std::io;

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
    /// The process may not open packet sockets.
    NotPermitted(String),
    /// Anything else the kernel answered.
    Refused {
        /// The device.
        name: String,
        /// The step that failed.
        step: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Missing(name) => {
                write!(f, "there is no network device `{name}` here: `ip link` lists the devices")
            }
            OpenError::NotPermitted(name) => write!(
                f,
                "no permission to open a packet socket on `{name}`: run as root or with CAP_NET_RAW"
            ),
            OpenError::Refused { name, step, source } => {
                write!(f, "cannot {step} on `{name}`: {source}")
            }
        }
    }
}

impl std::error::Error for OpenError {}

impl Netdev {
    /// Looks the device up.
    pub fn find(name: &str) -> Result<Netdev, OpenError> {
        let missing = || OpenError::Missing(name.to_owned());
        let c_name = CString::new(name).map_err(|_| missing())?;
        // SAFETY: `c_name` is a NUL-terminated string that outlives the call.
        let index = unsafe { libc::if_nametoindex(c_name.as_ptr()) };
        match i32::try_from(index) {
            Ok(index) if index > 0 => Ok(Netdev { name: name.to_owned(), index }),
            _ => Err(missing()),
        }
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The kernel's number for it.
    pub fn index(&self) -> i32 {
        self.index
    }
}
