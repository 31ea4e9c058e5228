//! A writer without waiting: records go into a bounded room, and a thread of its own takes them
//! from there to their target, which may be an unread pipe or a full disk.
//!
//! ```text
//!   packet thread -> [ room ] -> thread of the spool -> file, pipe or terminal
//! ```
//!
//! A record goes in whole or not at all. One without room is lost and counted, and the loss is
//! reported when there is room again. Failures to write are reported to the creator of the spool,
//! who also decides whether to go on.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use ports::privilege::{self, FILES};

/// How long the end of spools is waited for, of all together.
pub const END_TIMEOUT: Duration = Duration::from_millis(150);

/// The thread needs next to no stack.
const STACK_SIZE_BYTES: usize = 128 << 10;

/// A spool's news.
#[derive(Debug)]
pub enum News<'a> {
    /// So many records have found no room, or could not be written; now there is room again.
    Lost(u64),
    /// Nothing can be written, or not all of it.
    Failed(&'a io::Error),
}

/// A spool's next action after its news.
#[derive(Debug)]
pub enum After {
    /// It goes on, with these words of its own.
    GoOn(Vec<u8>),
    /// It takes nothing more.
    End,
}

/// The end into which records go; all clones are of one spool.
#[derive(Clone)]
pub struct Spool(Arc<Shared>);

struct Shared {
    size_bytes_max: usize,
    state: Mutex<State>,
    /// Something has come for the thread, or the end has.
    filled: Condvar,
    /// The thread has nothing left.
    emptied: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Chunk,
    lost: u64,
    /// The thread sleeps until it is woken.
    is_asleep: bool,
    /// Nothing more is to come.
    is_closed: bool,
    /// The thread has ended.
    is_over: bool,
}

/// Records, one behind the other.
#[derive(Default)]
struct Chunk {
    bytes: Vec<u8>,
    records: u64,
}

impl Spool {
    /// Starts the thread that writes to `out`, under a name of up to 15 bytes. `hear` gets its
    /// news, on that thread.
    pub fn start(
        name: &str,
        size_bytes_max: usize,
        out: impl Write + Send + 'static,
        hear: impl FnMut(News<'_>) -> After + Send + 'static,
    ) -> io::Result<Spool> {
        let shared = Arc::new(Shared {
            size_bytes_max,
            state: Mutex::default(),
            filled: Condvar::new(),
            emptied: Condvar::new(),
        });
        let theirs = Arc::clone(&shared);
        let builder = thread::Builder::new().name(name.to_owned()).stack_size(STACK_SIZE_BYTES);
        builder.spawn(move || {
            // A log may begin another file.
            let _kept = privilege::keep(FILES);
            theirs.drain(out, hear);
        })?;
        Ok(Spool(shared))
    }

    /// Hands in a record. It never waits for anything but another thread that does the same.
    pub fn put(&self, record: &[u8]) {
        let mut state = self.0.lock();
        if state.is_closed {
            return;
        }
        if state.waiting.bytes.len() + record.len() > self.0.size_bytes_max {
            state.lost += 1;
            return;
        }
        state.waiting.bytes.extend_from_slice(record);
        state.waiting.records += 1;
        if std::mem::take(&mut state.is_asleep) {
            self.0.filled.notify_one();
        }
    }

    /// Nothing more is to come.
    pub fn close(&self) {
        self.0.lock().is_closed = true;
        self.0.filled.notify_one();
    }

    /// Waits up to `timeout` until everything is written. An error is the number of lost records
    /// that have not been reported; those that are being written just then are not among them.
    pub fn wait_for_end(&self, timeout: Duration) -> Result<(), u64> {
        let state = self.0.lock();
        let waiting = |state: &mut State| !state.is_over;
        let waited = self.0.emptied.wait_timeout_while(state, timeout, waiting);
        let (state, _late) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_over { Ok(()) } else { Err(state.lost + state.waiting.records) }
    }
}

impl Write for Spool {
    /// Each call is a record.
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        self.put(record);
        Ok(record.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what comes, until nothing more is to come.
    fn drain(&self, mut out: impl Write, mut hear: impl FnMut(News<'_>) -> After) {
        let (mut taken, mut missing) = (Chunk::default(), 0);
        while let Some(lost) = self.take(&mut taken) {
            missing += lost;
            let written = out.write_all(&taken.bytes).and_then(|()| out.flush());
            let after = match &written {
                Ok(()) if missing == 0 => continue,
                Ok(()) => hear(News::Lost(std::mem::take(&mut missing))),
                Err(error) => {
                    missing += taken.records;
                    hear(News::Failed(error))
                }
            };
            match after {
                // Should this fail too, the next record will tell.
                After::GoOn(words) => drop(out.write_all(&words)),
                After::End => break,
            }
        }
        let mut state = self.lock();
        (state.is_closed, state.is_over) = (true, true);
        state.waiting = Chunk::default();
        self.emptied.notify_all();
    }

    /// Takes everything that waits, and how much was lost before. `None`: nothing will come.
    fn take(&self, taken: &mut Chunk) -> Option<u64> {
        taken.bytes.clear();
        taken.records = 0;
        let mut state = self.lock();
        while state.waiting.records == 0 && state.lost == 0 {
            if state.is_closed {
                return None;
            }
            state.is_asleep = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.is_asleep = false;
        std::mem::swap(&mut state.waiting, taken);
        Some(std::mem::take(&mut state.lost))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A pipe whose reader takes one write at a time: it says what it is about to take, and waits.
    struct Slow {
        offered: Sender<Vec<u8>>,
        taken: Receiver<io::Result<()>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.offered.send(bytes.to_vec()).expect("the test listens");
            self.taken.recv().expect("the test answers")?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn words(news: News<'_>) -> After {
        match news {
            News::Lost(records) => After::GoOn(format!("{records} lost").into_bytes()),
            News::Failed(_) => After::GoOn(Vec::new()),
        }
    }

    fn slow(hear: fn(News<'_>) -> After) -> (Spool, Receiver<Vec<u8>>, Sender<io::Result<()>>) {
        let (offered, offers) = channel();
        let (answers, taken) = channel();
        // Room for four records of three bytes.
        let spool = Spool::start("test", 12, Slow { offered, taken }, hear).expect("a thread");
        (spool, offers, answers)
    }

    #[test]
    fn who_writes_into_a_stalled_pipe_does_not_wait_and_the_loss_is_said() {
        let (spool, offers, answers) = slow(words);
        spool.put(b"one");
        assert_eq!(offers.recv().expect("the first"), b"one");
        // Nobody takes it. Four more fit, two do not; none of these calls waits.
        for record in [b"two", b"thr", b"fou", b"fiv", b"six", b"sev"] {
            spool.put(record);
        }
        answers.send(Ok(())).expect("it waits");
        assert_eq!(offers.recv().expect("the others"), b"twothrfoufiv");
        answers.send(Ok(())).expect("it waits");
        assert_eq!(offers.recv().expect("what is missing"), b"2 lost");
        answers.send(Ok(())).expect("it waits");
        spool.close();
        assert_eq!(spool.wait_for_end(10 * END_TIMEOUT), Ok(()));
        spool.put(b"too late");
    }

    #[test]
    fn what_comes_after_a_full_disk_is_written_and_says_what_is_missing() {
        let (spool, offers, answers) = slow(words);
        spool.put(b"one");
        assert_eq!(offers.recv().expect("the first"), b"one");
        answers.send(Err(io::ErrorKind::StorageFull.into())).expect("it waits");
        spool.put(b"two");
        assert_eq!(offers.recv().expect("the second"), b"two");
        answers.send(Ok(())).expect("it waits");
        assert_eq!(offers.recv().expect("what is missing"), b"1 lost");
    }

    #[test]
    fn a_spool_that_ends_takes_nothing_more() {
        let (spool, offers, answers) = slow(|_| After::End);
        spool.put(b"one");
        offers.recv().expect("the first");
        answers.send(Err(io::ErrorKind::StorageFull.into())).expect("it waits");
        assert_eq!(spool.wait_for_end(10 * END_TIMEOUT), Ok(()));
        spool.put(b"two");
        assert!(offers.recv().is_err(), "the writer is gone");
    }

    #[test]
    fn nobody_waits_long_for_the_end_of_a_stalled_one() {
        let (spool, offers, _answers) = slow(words);
        spool.put(b"one");
        offers.recv().expect("the first");
        // Four fit, a fifth does not.
        (0..5).for_each(|_| spool.put(b"two"));
        spool.close();
        // This test would hang.
        assert_eq!(spool.wait_for_end(END_TIMEOUT), Err(5));
    }
}
