//! The process in which a class decides: started, asked, and ended when it takes too long.

use std::io::{self, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{self, Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::{Class, wire};

/// How long the class may take to begin, and for one decision.
const BEGIN_LIMIT: Duration = Duration::from_secs(20);
const DECISION_LIMIT: Duration = Duration::from_secs(5);
/// How often it is looked whether a decision has taken too long.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A killed process and its children are gone after this.
const GRACE: Duration = Duration::from_secs(2);
/// An answer is a match of 128 pairs at most, or a traceback.
const ANSWER_BYTES_MAX: u32 = 1 << 20;
/// The Python that runs the class, if not `python3`.
const PYTHON: &str = "VITRINE_PYTHON";

/// The process, and the pipe to it.
pub struct Process {
    child: Arc<Mutex<Child>>,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The notes that go with the next question.
    told: Vec<u8>,
    /// Its answer to the beginning.
    pub begun: Vec<u8>,
    watchdog: Arc<Watchdog>,
}

/// Ends the process when a question has been open for too long. An open question costs two writes
/// to memory; no clock is read but by the thread that looks.
#[derive(Default)]
struct Watchdog {
    /// Odd while a question is open.
    questions: AtomicU64,
    has_begun: AtomicBool,
    is_late: AtomicBool,
    is_over: AtomicBool,
}

impl Process {
    /// Starts the class; `parameters` are what it is made with.
    pub fn start(class: &Class, parameters: &serde_json::Value) -> Result<Process, String> {
        let python = std::env::var(PYTHON).unwrap_or_else(|_| "python3".to_owned());
        let mut words = python.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or("python3"));
        command.args(words).args(["-m", "insides.host"]).arg(&class.file).arg(&class.name);
        // A group of its own, so that whatever it starts ends with it.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| {
            format!("{python} cannot be started: {error}; set {PYTHON} to the Python that has the package insides")
        })?;
        let input = child.stdin.take().ok_or("the process has no input")?;
        let output = child.stdout.take().ok_or("the process has no output")?;
        let child = Arc::new(Mutex::new(child));
        let watchdog = Arc::new(Watchdog::default());
        let (guard, guarded) = (Arc::clone(&watchdog), Arc::clone(&child));
        thread::spawn(move || guard.watch(&guarded));
        let output = BufReader::new(output);
        let (told, begun) = (Vec::new(), Vec::new());
        let mut process = Process { child, input, output, told, begun, watchdog };
        process.begun = process.ask(&wire::begin(parameters))?;
        process.watchdog.has_begun.store(true, Ordering::Relaxed);
        Ok(process)
    }

    /// Something that needs no answer.
    pub fn tell(&mut self, body: &[u8]) {
        self.told.extend_from_slice(&wire::frame(body));
    }

    /// Asks, and waits for the answer.
    pub fn ask(&mut self, body: &[u8]) -> Result<Vec<u8>, String> {
        let mut said = std::mem::take(&mut self.told);
        said.extend_from_slice(&wire::frame(body));
        self.watchdog.questions.fetch_add(1, Ordering::Relaxed);
        let answer = self.input.write_all(&said).and_then(|()| self.answer());
        self.watchdog.questions.fetch_add(1, Ordering::Relaxed);
        said.clear();
        self.told = said;
        let answer = answer.map_err(|error| self.why_it_ended(&error))?;
        match answer.split_first() {
            Some((0, answer)) => Ok(answer.to_vec()),
            Some((_, text)) => Err(String::from_utf8_lossy(text).trim_end().to_owned()),
            None => Err("it answered with nothing".to_owned()),
        }
    }

    fn answer(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.output.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length);
        if length > ANSWER_BYTES_MAX {
            return Err(io::Error::other(format!("an answer of {length} bytes")));
        }
        let mut answer = vec![0; length as usize];
        self.output.read_exact(&mut answer)?;
        Ok(answer)
    }

    fn why_it_ended(&self, error: &io::Error) -> String {
        if self.watchdog.is_late.load(Ordering::Relaxed) {
            let limit = self.watchdog.limit();
            return format!("it took longer than {} s, and was ended", limit.as_secs());
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => {
                "its process ended without an answer".to_owned()
            }
            _ => format!("its process said something else: {error}"),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.watchdog.is_over.store(true, Ordering::Relaxed);
        end(&self.child);
    }
}

impl Watchdog {
    fn limit(&self) -> Duration {
        if self.has_begun.load(Ordering::Relaxed) { DECISION_LIMIT } else { BEGIN_LIMIT }
    }

    fn watch(&self, child: &Mutex<Child>) {
        let (mut last, mut since) = (0, Instant::now());
        while !self.is_over.load(Ordering::Relaxed) {
            thread::sleep(LOOK_EVERY);
            let questions = self.questions.load(Ordering::Relaxed);
            if questions != last || questions.is_multiple_of(2) {
                (last, since) = (questions, Instant::now());
            } else if since.elapsed() > self.limit() {
                self.is_late.store(true, Ordering::Relaxed);
                end(child);
                thread::sleep(GRACE);
                if self.questions.load(Ordering::Relaxed) == questions {
                    // A process that left its group still holds the pipe, so there is no other way
                    // to report it.
                    eprintln!(
                        "vitrine-sim: a decision took longer than {} s, and a process that the class has started does not end",
                        self.limit().as_secs()
                    );
                    process::exit(2);
                }
                return;
            }
        }
    }
}

/// Ends a process and those that it has started in its group.
fn end(child: &Mutex<Child>) {
    let Ok(mut child) = child.lock() else { return };
    let group = format!("-{}", child.id());
    // The standard library ends one process; a group of them the command.
    let _ended = Command::new("kill").args(["-9", "--", &group]).stderr(Stdio::null()).status();
    let _gone = child.kill();
    let _status = child.wait();
}
