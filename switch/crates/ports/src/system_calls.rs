//! Which system calls a switch makes, and no others any more: seccomp.
//!
//! The list is of allowed calls. The kernel answers any other as if it did not have it (ENOSYS): C
//! libraries expect that of calls that are newer than the kernel, and do without them. So a newer
//! library needs no newer list.
//!
//! Calls whose reach depends on an argument are allowed for some arguments only: sockets of the
//! families that a switch speaks, threads but no namespaces, signals to itself.

use std::collections::BTreeMap;

use libc::{AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_UNIX, c_int, c_long};
use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule, apply_filter,
};

/// Allowed whatever their arguments are.
#[rustfmt::skip]
const ALLOWED: &[c_long] = &[
    // Open descriptors: frames, messages, files.
    libc::SYS_read, libc::SYS_readv, libc::SYS_pread64,
    libc::SYS_write, libc::SYS_writev, libc::SYS_pwrite64,
    libc::SYS_recvfrom, libc::SYS_recvmsg, libc::SYS_recvmmsg,
    libc::SYS_sendto, libc::SYS_sendmsg, libc::SYS_sendmmsg,
    libc::SYS_lseek, libc::SYS_fstat, libc::SYS_fcntl, libc::SYS_ftruncate, libc::SYS_fsync,
    libc::SYS_fdatasync, libc::SYS_dup, libc::SYS_dup3, libc::SYS_close, libc::SYS_close_range,
    // Files by their names; which ones, `reach` says.
    libc::SYS_openat, libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_faccessat,
    libc::SYS_faccessat2, libc::SYS_readlinkat, libc::SYS_unlinkat, libc::SYS_renameat,
    libc::SYS_renameat2, libc::SYS_fchmod, libc::SYS_fchmodat, libc::SYS_getcwd,
    // Controllers.
    libc::SYS_bind, libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4, libc::SYS_connect,
    libc::SYS_getsockname, libc::SYS_getpeername, libc::SYS_getsockopt, libc::SYS_setsockopt,
    libc::SYS_shutdown,
    // Waiting.
    libc::SYS_epoll_create1, libc::SYS_epoll_ctl, libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2,
    libc::SYS_ppoll, libc::SYS_pselect6, libc::SYS_eventfd2, libc::SYS_pipe2, libc::SYS_futex,
    libc::SYS_nanosleep, libc::SYS_clock_nanosleep, libc::SYS_restart_syscall,
    // The time, where the kernel's page does not have it.
    libc::SYS_clock_gettime, libc::SYS_clock_getres, libc::SYS_gettimeofday,
    // Memory, programs as machine code among it.
    libc::SYS_brk, libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect,
    libc::SYS_madvise, libc::SYS_membarrier,
    // Threads and signals.
    libc::SYS_set_robust_list, libc::SYS_rseq, libc::SYS_gettid, libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity, libc::SYS_sched_getscheduler, libc::SYS_sched_getattr,
    libc::SYS_getpriority, libc::SYS_getcpu, libc::SYS_sigaltstack, libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn, libc::SYS_exit, libc::SYS_exit_group,
    // Identities, and giving up rights.
    libc::SYS_getpid, libc::SYS_getppid, libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid,
    libc::SYS_getegid, libc::SYS_capget, libc::SYS_capset,
    // Chance, and what the machine is like.
    libc::SYS_getrandom, libc::SYS_uname, libc::SYS_sysinfo, libc::SYS_getrusage,
];

/// The same by their older names, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const OLDER: &[c_long] = &[
    libc::SYS_open, libc::SYS_stat, libc::SYS_lstat, libc::SYS_access, libc::SYS_readlink,
    libc::SYS_unlink, libc::SYS_rename, libc::SYS_chmod, libc::SYS_pipe, libc::SYS_dup2,
    libc::SYS_poll, libc::SYS_select, libc::SYS_epoll_wait, libc::SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[c_long] = &[];

/// Unix sockets for controllers and for requests of devices, TCP, netlink for news of devices, and
/// packets.
const FAMILIES: &[c_int] = &[AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET];

/// Requests to devices and sockets, and whether a log goes to a terminal. Not, for instance,
/// TIOCSTI, which types into one.
const REQUESTS: &[c_int] = &[
    libc::SIOCGIFINDEX as c_int,
    libc::SIOCGIFFLAGS as c_int,
    libc::SIOCGIFMTU as c_int,
    crate::netdev::SIOCETHTOOL as c_int,
    libc::FIONBIO as c_int,
    libc::FIONREAD as c_int,
    libc::FIOCLEX as c_int,
    libc::TCGETS as c_int,
    libc::TIOCGWINSZ as c_int,
];

/// Names of threads and of memory, and how exactly a thread is woken.
const OF_THREADS: &[c_int] =
    &[libc::PR_SET_NAME, libc::PR_GET_NAME, libc::PR_SET_VMA, libc::PR_SET_TIMERSLACK];

/// Flags of `clone` that make namespaces.
const NAMESPACES: c_int = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;

/// Has the kernel carry out no other calls for the calling thread and all that it will start.
pub fn restrict() -> Result<(), Error> {
    apply_filter(&filter()?)
}

fn filter() -> Result<BpfProgram, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    rules.extend(ALLOWED.iter().chain(OLDER).map(|call| (*call, Vec::new())));
    let own_id = u64::from(std::process::id());
    let no_namespace = SeccompCmpOp::MaskedEq(u64::from(NAMESPACES as u32));
    rules.extend([
        (libc::SYS_socket, any_of(0, FAMILIES)?),
        (libc::SYS_socketpair, any_of(0, &[AF_UNIX])?),
        (libc::SYS_ioctl, any_of(1, REQUESTS)?),
        (libc::SYS_prctl, any_of(0, OF_THREADS)?),
        // Not clone3, whose flags lie in memory, where a filter does not see them.
        (libc::SYS_clone, vec![when(0, no_namespace, 0)?]),
        (libc::SYS_tgkill, vec![when(0, SeccompCmpOp::Eq, own_id)?]),
        // Thread and process 0 are the calling ones.
        (libc::SYS_sched_setattr, any_of(0, &[0])?),
        (libc::SYS_prlimit64, any_of(0, &[0])?),
    ]);
    let absent = SeccompAction::Errno(libc::ENOSYS as u32);
    let this = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, absent, SeccompAction::Allow, this)?.try_into()
}

/// Allows a call whose argument is one of these.
fn any_of(argument: u8, values: &[c_int]) -> Result<Vec<SeccompRule>, BackendError> {
    let rules = values.iter().map(|value| when(argument, SeccompCmpOp::Eq, *value as u32 as u64));
    rules.collect()
}

/// Allows a call whose argument, of which 32 bits count, is like that.
fn when(argument: u8, is: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, is, value)?])
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io;
    use std::process::Command;
    use std::thread;

    use super::*;

    /// Everything that a switch needs has no errors under it in `tests/process`, `tests/control` and
    /// `tests/live`; this is about what it does not need.
    #[test]
    fn a_restricted_thread_starts_no_program_and_reaches_no_other_process() {
        let absent = |result: c_long| {
            let error = io::Error::last_os_error().raw_os_error();
            assert_eq!((result, error), (-1, Some(libc::ENOSYS)));
        };
        let status = thread::spawn(move || {
            restrict().expect("this kernel has it");
            // Those that it starts are as restricted.
            let run = move || {
                let started = Command::new("/bin/true").status();
                assert_eq!(started.expect_err("none").raw_os_error(), Some(libc::ENOSYS));
                // SAFETY: the kernel does nothing for any of these arguments.
                unsafe {
                    absent(libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0));
                    absent(libc::kill(libc::getppid(), 0).into());
                    absent(libc::syscall(libc::SYS_tgkill, libc::getppid(), libc::getppid(), 0));
                    absent(libc::unshare(libc::CLONE_NEWNET).into());
                    absent(libc::syscall(libc::SYS_clone, libc::CLONE_NEWUSER, 0, 0, 0, 0));
                    absent(libc::socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0).into());
                    absent(libc::ioctl(0, libc::TIOCSTI, c"x".as_ptr()).into());
                    absent(libc::syscall(libc::SYS_io_uring_setup, 1, 0));
                    absent(libc::syscall(libc::SYS_setuid, 0));
                }
                fs::read_to_string("/proc/thread-self/status").expect("Linux has it")
            };
            thread::Builder::new().spawn(run).expect("threads may be started").join()
        });
        let status = status.join().expect("it does not panic").expect("nor does this");
        assert!(status.contains("\nSeccomp:\t2\n"), "{status}");
        assert!(Command::new("/bin/true").status().is_ok(), "other threads are as they were");
    }
}
