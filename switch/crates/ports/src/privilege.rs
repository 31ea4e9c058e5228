//! Giving up what a running switch does not need.
//!
//! A switch starts as root, because packet sockets and ports below 1024 want it. Once all is open,
//! [`become_user`] makes the process somebody else. Of root's rights it keeps two: CAP_NET_RAW and
//! CAP_NET_ADMIN, without which a device that vanished and came back could not be opened again.

use std::ffi::CString;
use std::fmt;
use std::io;
use std::ptr;

/// linux/capability.h; libc carries neither the numbers nor the call.
const CAP_NET_ADMIN: u32 = 12;
const CAP_NET_RAW: u32 = 13;
const CAPABILITY_VERSION_3: u32 = 0x2008_0522;

/// `struct __user_cap_header_struct`.
#[repr(C)]
struct CapabilityHeader {
    version: u32,
    /// 0: the calling thread.
    pid: i32,
}

/// `struct __user_cap_data_struct`; version 3 takes two, for capabilities from 0 and from 32.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct CapabilityData {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Why the process is still who it was.
#[derive(Debug)]
pub enum PrivilegeError {
    /// Nobody has this name.
    Missing(String),
    /// A step that the kernel refused.
    Refused { step: &'static str, source: io::Error },
}

impl fmt::Display for PrivilegeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrivilegeError::Missing(name) => {
                write!(f, "there is no user `{name}` here: `getent passwd` lists the users")
            }
            PrivilegeError::Refused { step, source } => {
                write!(f, "cannot {step}: {source}; only root can become another user")
            }
        }
    }
}

impl std::error::Error for PrivilegeError {}

/// Who the process is to be.
struct Identity {
    uid: libc::uid_t,
    gid: libc::gid_t,
}

/// Makes the process `name`, in that user's own group and no other.
///
/// The calling thread, which is to be the one that opens ports, keeps the two capabilities; every
/// other thread keeps none. No program that the process might run gets any back.
pub fn become_user(name: &str) -> Result<(), PrivilegeError> {
    let Identity { uid, gid } = find(name)?;
    // SAFETY: prctl with these options takes plain numbers.
    check("keep capabilities", unsafe { libc::prctl(libc::PR_SET_KEEPCAPS, 1, 0, 0, 0) })?;
    // SAFETY: a null list of length zero is what the call takes for "none".
    check("leave all groups", unsafe { libc::setgroups(0, ptr::null()) })?;
    // The C library changes these two for all threads of the process.
    // SAFETY: plain numbers.
    check("change the group", unsafe { libc::setresgid(gid, gid, gid) })?;
    // SAFETY: plain numbers.
    check("change the user", unsafe { libc::setresuid(uid, uid, uid) })?;
    keep_only(1 << CAP_NET_ADMIN | 1 << CAP_NET_RAW)?;
    // SAFETY: as above.
    check("refuse new privileges", unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })
}

fn find(name: &str) -> Result<Identity, PrivilegeError> {
    let missing = || PrivilegeError::Missing(name.to_owned());
    let c_name = CString::new(name).map_err(|_| missing())?;
    // SAFETY: the name is NUL-terminated. The answer points into memory of the C library that the
    // next such call overwrites; nobody else in this process asks, and two numbers are copied out
    // at once.
    let entry = unsafe { libc::getpwnam(c_name.as_ptr()).as_ref() };
    entry.map(|entry| Identity { uid: entry.pw_uid, gid: entry.pw_gid }).ok_or_else(missing)
}

/// The calling thread's capabilities from now on.
fn keep_only(capabilities: u32) -> Result<(), PrivilegeError> {
    let header = CapabilityHeader { version: CAPABILITY_VERSION_3, pid: 0 };
    let low = CapabilityData { effective: capabilities, permitted: capabilities, inheritable: 0 };
    let data = [low, CapabilityData::default()];
    // SAFETY: the kernel reads a header and two data structures, which live beyond the call.
    let result = unsafe { libc::syscall(libc::SYS_capset, &header, data.as_ptr()) };
    check("give up capabilities", result as libc::c_int)
}

fn check(step: &'static str, result: libc::c_int) -> Result<(), PrivilegeError> {
    if result == 0 {
        return Ok(());
    }
    Err(PrivilegeError::Refused { step, source: io::Error::last_os_error() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_who_is_not_there_is_named() {
        let error = become_user("nobody-has-this-name").expect_err("no such user");
        assert!(error.to_string().contains("`nobody-has-this-name`"), "{error}");
    }
}
