//! Being run soon: what a thread that keeps instants asks of the scheduler.

use std::io;
use std::mem::size_of;
use std::time::Duration;

/// The nice value of the thread: well before ordinary ones, which have 0, and behind what the kernel
/// itself cannot do without (-20).
const NICE: i32 = -10;
/// The thread's time slice: the least that the kernel takes. A thread with a short slice runs
/// sooner (EEVDF, Linux 6.12); older kernels do not read it.
const SLICE_NS: u64 = 100_000;

/// The lowest there is: others that use real time know why.
const REAL_TIME_PRIORITY: u32 = 1;

/// linux/sched.h: what the thread starts begins as an ordinary one.
const RESET_ON_FORK: u64 = 1;

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

/// How soon a thread wants to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedence {
    /// Before ordinary threads, but as one of them: it cannot keep others from running at all.
    High,
    /// Before all of them, whatever they are doing: for a thread that does little, and at its time.
    /// One that does much would have others stand still.
    RealTime,
}

/// Asks the kernel to run the calling thread before ordinary ones, which takes CAP_SYS_NICE; from
/// real time back to high it takes nothing. Threads that it starts do not inherit that.
///
/// Where hosts and switch share processors, a host that waits a millisecond is slower by a
/// millisecond; a switch that does so delays the packets of all hosts.
pub fn take_precedence(precedence: Precedence) -> io::Result<()> {
    let high = SchedulingAttributes {
        size: size_of::<SchedulingAttributes>() as u32,
        policy: libc::SCHED_OTHER as u32,
        flags: RESET_ON_FORK,
        nice: NICE,
        runtime: SLICE_NS,
        ..SchedulingAttributes::default()
    };
    let attributes = match precedence {
        Precedence::High => high,
        Precedence::RealTime => SchedulingAttributes {
            policy: libc::SCHED_FIFO as u32,
            priority: REAL_TIME_PRIORITY,
            runtime: 0,
            ..high
        },
    };
    // SAFETY: the kernel reads as many bytes of the structure as that says it has; thread 0 is the
    // calling one.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Whether the calling thread has real-time priority, from any source.
pub fn has_real_time() -> bool {
    // SAFETY: a plain question; thread 0 is the calling one.
    let policy = unsafe { libc::sched_getscheduler(0) } & !libc::SCHED_RESET_ON_FORK;
    matches!(policy, libc::SCHED_FIFO | libc::SCHED_RR)
}

/// Processor time that the calling thread has used.
pub fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one `timespec`. The call cannot fail: the clock is the thread's own.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedence_is_the_threads_own_and_needs_the_right_to_it() {
        // SAFETY: plain numbers; "process 0" and "thread 0" are the calling thread.
        let state =
            || unsafe { (libc::getpriority(libc::PRIO_PROCESS, 0), libc::sched_getscheduler(0)) };
        // The kernel says so in a bit of the policy.
        let resets = |(_, policy): (i32, i32)| policy & libc::SCHED_RESET_ON_FORK != 0;
        let before = state();
        let asked = std::thread::spawn(move || {
            [Precedence::High, Precedence::RealTime, Precedence::High]
                .map(|precedence| (take_precedence(precedence), state(), has_real_time()))
        });
        let policies = [libc::SCHED_OTHER, libc::SCHED_FIFO, libc::SCHED_OTHER];
        for ((asked, inside, real_time), policy) in
            asked.join().expect("it does not panic").iter().zip(policies)
        {
            match asked {
                Ok(()) => {
                    assert!(resets(*inside), "threads that it starts are ordinary ones");
                    assert_eq!(*inside, (NICE, policy | libc::SCHED_RESET_ON_FORK));
                    assert_eq!(*real_time, policy == libc::SCHED_FIFO);
                }
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
            }
        }
        assert_eq!(state(), before, "other threads are as they were");
    }

    #[test]
    fn a_threads_time_is_what_it_computes_not_what_it_sleeps() {
        let (before, began) = (thread_time(), std::time::Instant::now());
        std::thread::sleep(Duration::from_millis(20));
        assert!(thread_time() - before < began.elapsed());
        let later = thread_time();
        while thread_time() == later {}
    }
}
