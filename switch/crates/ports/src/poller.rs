//! Waiting for packets, for a due instant, or for another thread's nudge.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use crate::descriptors::{descriptor_limit, raise_descriptor_limit};

/// Waits until one of its descriptors is readable. Holds no borrow of the sockets: it is given
/// their descriptors again whenever the set changes.
pub struct Poller {
    polled: Vec<libc::pollfd>,
    nudge: Arc<OwnedFd>,
}

/// Wakes a [`Poller`] from another thread.
#[derive(Clone)]
pub struct Waker(Arc<OwnedFd>);

impl Poller {
    /// A poller that watches only for its own wakers.
    pub fn new() -> io::Result<Poller> {
        // SAFETY: no pointers; the result is checked before it is used.
        let fd = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` was just opened and has no other owner.
        let nudge = Arc::new(unsafe { OwnedFd::from_raw_fd(fd) });
        // The default timer slack of 50 us would blur every departure by that much.
        // SAFETY: PR_SET_TIMERSLACK takes one number and affects this thread only.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
        let mut poller = Poller { polled: Vec::new(), nudge };
        poller.watch(&[]);
        Ok(poller)
    }

    /// From now on waits for exactly these descriptors and its wakers.
    pub fn watch(&mut self, sockets: &[RawFd]) {
        let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        self.polled.clear();
        self.polled.push(entry(self.nudge.as_raw_fd()));
        self.polled.extend(sockets.iter().map(|fd| entry(*fd)));
    }

    /// Whether waits also end when the `position`th watched socket can be written to. Forgotten by
    /// [`Poller::watch`].
    pub fn want_room(&mut self, position: usize, wanted: bool) {
        if let Some(entry) = self.polled.get_mut(position + 1) {
            entry.events = if wanted { libc::POLLIN | libc::POLLOUT } else { libc::POLLIN };
        }
    }

    /// A handle with which another thread ends a wait.
    pub fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.nudge))
    }

    /// Waits until a descriptor is readable, a waker was used or `timeout` has passed; without a
    /// timeout, as long as it takes. A signal ends the wait early.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let limit = timeout.map(|t| libc::timespec {
            tv_sec: t.as_secs() as libc::time_t,
            tv_nsec: t.subsec_nanos().into(),
        });
        let limit_ptr = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: `polled` is a valid array of its length for the whole call, `limit` lives on
        // the stack beyond it, and a null signal mask leaves the mask alone.
        let ready = unsafe {
            libc::ppoll(
                self.polled.as_mut_ptr(),
                self.polled.len() as libc::nfds_t,
                limit_ptr,
                std::ptr::null(),
            )
        };
        if ready < 0 {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                Some(libc::EINTR) => Ok(()),
                Some(libc::EINVAL) => self.heed_limit(error),
                _ => Err(error),
            };
        }
        if self.polled[0].revents != 0 {
            self.take_nudges();
        }
        Ok(())
    }

    /// The kernel waits for no more descriptors than a process may have open, and that limit may
    /// have been lowered meanwhile: it is raised again, as far as that is allowed.
    fn heed_limit(&self, error: io::Error) -> io::Result<()> {
        let count = self.polled.len() as u64;
        if descriptor_limit() >= count {
            return Err(error);
        }
        raise_descriptor_limit();
        match descriptor_limit() {
            limit if limit >= count => Ok(()),
            limit => Err(io::Error::other(format!(
                "this process may have {limit} files open, and waits for {count}: raise the limit \
                 (`ulimit -n`, RLIMIT_NOFILE)"
            ))),
        }
    }

    /// Whether the `position`th watched socket was readable when the last wait ended.
    pub fn is_ready(&self, position: usize) -> bool {
        self.polled.get(position + 1).is_some_and(|entry| entry.revents & !libc::POLLOUT != 0)
    }

    /// Whether the `position`th watched socket could be written to when the last wait ended, if
    /// that was requested.
    pub fn has_room(&self, position: usize) -> bool {
        self.polled.get(position + 1).is_some_and(|entry| entry.revents & libc::POLLOUT != 0)
    }

    fn take_nudges(&self) {
        let mut count = 0u64;
        // SAFETY: reads at most the eight bytes of `count`. Failing (nothing to read) is harmless.
        unsafe {
            libc::read(self.nudge.as_raw_fd(), std::ptr::from_mut(&mut count).cast(), 8);
        }
    }
}

impl Waker {
    /// Ends the current wait of the poller, or its next one.
    pub fn wake(&self) {
        let one = 1u64;
        // SAFETY: writes the eight bytes of `one`. It can fail only when the counter is full, and
        // then the poller is awake anyway.
        unsafe {
            libc::write(self.0.as_raw_fd(), std::ptr::from_ref(&one).cast(), 8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nudge_ends_a_wait_without_timeout_and_is_taken() {
        let mut poller = Poller::new().expect("eventfd");
        poller.waker().wake();
        poller.wait(None).expect("returns at once");
        // The nudge is gone: this wait ends by its timeout.
        poller.wait(Some(Duration::from_millis(1))).expect("times out");
    }
}
