//! Being run soon: what a thread that keeps instants asks of the scheduler.

use std::io;
use std::mem::size_of;

/// The nice value of the thread: well before ordinary ones, which have 0, and behind what the kernel
/// itself cannot do without (-20).
const NICE: i32 = -10;
/// How long the thread wants to run at a time: the least that the kernel takes. Who asks for little
/// is let in sooner (EEVDF, Linux 6.12); older kernels do not read it.
const SLICE_NS: u64 = 100_000;

/// `struct sched_attr`, first version; libc does not carry it everywhere.
#[repr(C)]
#[derive(Default)]
struct SchedulingAttributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Asks the kernel to run the calling thread before ordinary ones, which takes CAP_SYS_NICE. Threads
/// that it starts afterwards inherit that.
///
/// Where hosts and switch share processors, a host that waits a millisecond is slower by a
/// millisecond; a switch that does so delays the packets of all hosts. It stays an ordinary thread,
/// unlike one with a real-time policy: it cannot keep others from running at all.
pub fn take_precedence() -> io::Result<()> {
    let attributes = SchedulingAttributes {
        size: size_of::<SchedulingAttributes>() as u32,
        policy: libc::SCHED_OTHER as u32,
        nice: NICE,
        runtime: SLICE_NS,
        ..SchedulingAttributes::default()
    };
    // SAFETY: the kernel reads as many bytes of the structure as that says it has; thread 0 is the
    // calling one.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedence_is_the_threads_own_and_needs_the_right_to_it() {
        // SAFETY: plain numbers; "process 0" is the calling thread.
        let nice = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let before = nice();
        let asked = std::thread::spawn(move || (take_precedence(), nice()));
        let (asked, inside) = asked.join().expect("it does not panic");
        match asked {
            Ok(()) => assert_eq!(inside, NICE),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
        assert_eq!(nice(), before, "other threads are as they were");
    }
}
