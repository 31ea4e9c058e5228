//! Giving up what a running switch does not need.
//!
//! A switch starts as root, because packet sockets and ports below 1024 want it. It gives that up in
//! steps, of which those before the last are taken by the only thread there is, and so hold for every
//! thread that there will be:
//!
//! 1. [`confine`]: no program that it could start would get a right back (`no_new_privs`, an empty
//!    bounding set).
//! 2. [`become_user`], if that is wanted: another user, without groups, who may still open what the
//!    switch needs.
//! 3. [`Reach::restrict`](crate::reach::Reach::restrict): of all files and addresses only its own.
//! 4. [`system_calls::restrict`](crate::system_calls::restrict): of all system calls those that it makes.
//! 5. [`keep`], on each thread and once all is open: the few of root's rights that it needs: [`PORTS`] or
//!    at least [`DEVICES`] to drive devices, [`DEVICES`] and [`FILES`] to open them, [`NOTHING`] to
//!    speak with controllers.

use std::ffi::CString;
use std::fmt;
use std::io;
use std::ptr;

/// linux/capability.h; libc carries neither the numbers nor the calls.
const CAP_DAC_OVERRIDE: u32 = 1;
const CAP_NET_BIND_SERVICE: u32 = 10;
const CAP_NET_ADMIN: u32 = 12;
const CAP_NET_RAW: u32 = 13;
const CAP_SYS_NICE: u32 = 23;
const CAPABILITY_VERSION_3: u32 = 0x2008_0522;
/// More than any kernel has.
const CAPABILITY_COUNT_MAX: libc::c_ulong = 64;

/// A thread's rights: capabilities below 32, a bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights(u32);

/// None of root's rights.
pub const NOTHING: Rights = Rights(0);
/// To open packet sockets on devices, such as one that vanished and came back.
pub const DEVICES: Rights = Rights(1 << CAP_NET_ADMIN | 1 << CAP_NET_RAW);
/// To open them, and to run before others.
pub const PORTS: Rights = Rights(DEVICES.0 | 1 << CAP_SYS_NICE);
/// The rights that are needed until all is open.
const START: Rights = Rights(PORTS.0 | FILES.0 | 1 << CAP_NET_BIND_SERVICE);
/// To write files in folders of the user who started the switch.
pub const FILES: Rights = Rights(1 << CAP_DAC_OVERRIDE);

impl Rights {
    /// Both.
    pub fn and(self, other: Rights) -> Rights {
        Rights(self.0 | other.0)
    }
}

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

/// The identity of the process.
struct Identity {
    uid: libc::uid_t,
    gid: libc::gid_t,
}

/// Sees to it that neither the calling thread nor what it will start gets a right that it lacks.
pub fn confine() -> Result<(), PrivilegeError> {
    // SAFETY: prctl with this option takes plain numbers.
    check("refuse new privileges", unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    for capability in 0..CAPABILITY_COUNT_MAX {
        // Without CAP_SETPCAP it fails, and then there is nothing to lose either. SAFETY: as above.
        let _refused = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    Ok(())
}

/// Makes the process `name`, in that user's own group and no other, with what is needed until all is
/// open. To be called by the only thread there is: the C library makes all threads change together,
/// and ends the process if one may not.
pub fn become_user(name: &str) -> Result<(), PrivilegeError> {
    let Identity { uid, gid } = find(name)?;
    // SAFETY: prctl with these options takes plain numbers.
    check("keep capabilities", unsafe { libc::prctl(libc::PR_SET_KEEPCAPS, 1, 0, 0, 0) })?;
    // SAFETY: a null list of length zero is what the call takes for "none".
    check("leave all groups", unsafe { libc::setgroups(0, ptr::null()) })?;
    // SAFETY: plain numbers.
    check("change the group", unsafe { libc::setresgid(gid, gid, gid) })?;
    // SAFETY: plain numbers.
    check("change the user", unsafe { libc::setresuid(uid, uid, uid) })?;
    keep(START)
}

fn find(name: &str) -> Result<Identity, PrivilegeError> {
    let missing = || PrivilegeError::Missing(name.to_owned());
    let c_name = CString::new(name).map_err(|_| missing())?;
    // SAFETY: the name is NUL-terminated. The answer points into memory of the C library that the
    // next such call overwrites; nothing else in this process calls it, and two numbers are copied
    // out at once.
    let entry = unsafe { libc::getpwnam(c_name.as_ptr()).as_ref() };
    entry.map(|entry| Identity { uid: entry.pw_uid, gid: entry.pw_gid }).ok_or_else(missing)
}

/// Keeps these rights on the calling thread, as far as it has them, and gives up all others.
pub fn keep(rights: Rights) -> Result<(), PrivilegeError> {
    let mut header = CapabilityHeader { version: CAPABILITY_VERSION_3, pid: 0 };
    let mut data = [CapabilityData::default(); 2];
    // SAFETY: the kernel reads the header and fills two data structures, which live beyond the call.
    let result = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, data.as_mut_ptr()) };
    check("read capabilities", result as libc::c_int)?;
    let kept = data[0].permitted & rights.0;
    let low = CapabilityData { effective: kept, permitted: kept, inheritable: 0 };
    let data = [low, CapabilityData::default()];
    // SAFETY: the kernel reads a header and two data structures, which live beyond the call.
    let result = unsafe { libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()) };
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
    use std::thread;

    use super::*;

    #[test]
    fn a_user_who_is_not_there_is_named() {
        let error = become_user("nobody-has-this-name").expect_err("no such user");
        assert!(error.to_string().contains("`nobody-has-this-name`"), "{error}");
    }

    /// A whole process changes, so it is one of its own: this test again, in there.
    #[test]
    fn a_process_that_becomes_another_user_keeps_what_is_needed_until_all_is_open() {
        const INSIDE: &str = "VITRINE_TEST_BECOMES";
        if std::env::var_os(INSIDE).is_some() {
            become_user("nobody").expect("it is root's");
            let user = find("nobody").expect("it is there").uid.to_string();
            assert_eq!(status("Uid").split_whitespace().collect::<Vec<_>>(), [&user; 4]);
            assert_eq!(status("Groups"), "");
            let kept = u64::from_str_radix(&status("CapPrm"), 16).expect("a number");
            assert_eq!(kept & !u64::from(START.0), 0, "{kept:x}");
            return;
        }
        // SAFETY: no arguments, and it cannot fail.
        if unsafe { libc::geteuid() } != 0 || find("nobody").is_err() {
            eprintln!("skipped: only root can become another user");
            return;
        }
        let name = "a_process_that_becomes_another_user_keeps_what_is_needed_until_all_is_open";
        let program = std::env::current_exe().expect("it runs");
        let inside = std::process::Command::new(program).arg(name).env(INSIDE, "1").output();
        let inside = inside.expect("it starts");
        let said = String::from_utf8_lossy(&inside.stdout);
        assert!(inside.status.success() && said.contains("1 passed"), "{said}");
    }

    /// The kernel's status of the calling thread.
    fn status(what: &str) -> String {
        let text = std::fs::read_to_string("/proc/thread-self/status").expect("Linux has it");
        let line = text.lines().find_map(|line| line.strip_prefix(what));
        line.unwrap_or_default().trim_start_matches(':').trim().to_owned()
    }

    /// It is the thread's own, and of those it starts.
    #[test]
    fn a_confined_thread_gets_no_right_that_it_lacks() {
        let states = || (status("NoNewPrivs"), status("CapBnd"));
        let before = states();
        let confined = thread::spawn(move || {
            confine().expect("every kernel has this");
            thread::spawn(states).join().expect("it does not panic")
        });
        let (no_new, bounding) = confined.join().expect("it does not panic");
        assert_eq!(no_new, "1");
        // SAFETY: no arguments, and it cannot fail.
        if unsafe { libc::geteuid() } == 0 {
            assert_eq!(bounding, "0000000000000000");
        }
        assert_eq!(states(), before, "other threads are as they were");
    }

    #[test]
    fn a_thread_keeps_what_it_asked_for_as_far_as_it_had_it() {
        let kept = thread::spawn(|| {
            keep(PORTS).expect("to give up is allowed to everybody");
            let ports = status("CapEff");
            keep(FILES.and(NOTHING)).expect("as above");
            (ports, status("CapPrm"))
        });
        let (ports, then) = kept.join().expect("it does not panic");
        let number = |text: &str| u64::from_str_radix(text, 16).expect("digits");
        assert_eq!(number(&ports) & !u64::from(PORTS.0), 0);
        assert_eq!(number(&then), 0, "what was given up does not come back");
    }
}
