//! A server, a data plane on a thread of its own, and how long each of that thread's slices takes.
//!
//! A slice is timed twice: by the clock, which goes on while the machine runs something else, and
//! by the processor time of the thread, which does not. The switch is responsible for the second;
//! its cost is also counted in instructions, which depend on nothing else on the machine: `valgrind
//! --tool=callgrind --toggle-collect='*Agent*work*' <the bench> --once`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use agent::{Agent, SLICE_SPAN, SLICE_STEPS_MAX};
use device::Device;
use rustix::time::{ClockId, clock_gettime};
use service::server::Server;
use traffic::PortConfig;
use units::{PortId, Rate, Time};

use crate::support::{self, Plane};

/// The longest wait of packets: the goal for every slice.
const SLICE_MAX: Duration = Duration::from_micros(100);

/// How long one slice took.
#[derive(Clone, Copy)]
struct Slice {
    by_the_clock: Duration,
    of_the_thread: Duration,
}

/// The measurements of the data plane's thread.
struct Notes {
    slices: Arc<Mutex<Vec<Slice>>>,
    idle: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
}

/// A server and its data plane.
pub struct Rig {
    pub server: Server,
    slices: Arc<Mutex<Vec<Slice>>>,
    /// The data plane has nothing to do.
    idle: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    wake: Sender<()>,
    thread: JoinHandle<()>,
}

impl Rig {
    /// With this many ports of 8 queues.
    pub fn start(port_count: u16) -> Rig {
        let (wake, woken) = channel::<()>();
        let waker = Mutex::new(wake.clone());
        let wake_plane = move || {
            // The thread ends before the last streams close.
            let _gone = waker.lock().expect("no panic").send(());
        };
        let (server, agent) = support::serve(Arc::new(wake_plane));
        let slices = Arc::new(Mutex::new(Vec::new()));
        let (idle, stop) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let notes =
            Notes { slices: Arc::clone(&slices), idle: Arc::clone(&idle), stop: Arc::clone(&stop) };
        let thread = std::thread::spawn(move || drive(agent, port_count, &woken, &notes));
        Rig { server, slices, idle, stop, wake, thread }
    }

    /// Forgets the slices until now.
    pub fn forget(&self) {
        self.wait();
        self.slices.lock().expect("no panic").clear();
    }

    /// One line: how many a second since `began`, and how long slices took; starts over.
    pub fn report(&self, name: &str, count: usize, began: Instant) {
        let rate = count as f64 / began.elapsed().as_secs_f64();
        self.wait();
        let slices = std::mem::take(&mut *self.slices.lock().expect("no panic"));
        let sorted = |of: fn(&Slice) -> Duration| {
            let mut spans: Vec<_> = slices.iter().map(of).collect();
            spans.sort_unstable();
            spans
        };
        let (thread, clock) = (sorted(|it| it.of_the_thread), sorted(|it| it.by_the_clock));
        let over = thread.iter().filter(|it| **it > SLICE_MAX).count();
        println!(
            "{name:<44} {rate:>9.0} {:>7} {over:>5} {:>8} {:>8} {:>8}   {:>8} {:>8}",
            slices.len(),
            at(&thread, 500),
            at(&thread, 990),
            at(&thread, 1000),
            at(&clock, 990),
            at(&clock, 1000),
        );
    }

    /// Until the slice that gave the last answer is noted.
    fn wait(&self) {
        while !self.idle.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }

    pub fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        let _last = self.wake.send(());
        self.thread.join().expect("no panic");
    }
}

/// The head of the table that [`Rig::report`] fills.
pub fn print_head() {
    let (thread, clock) = ("processor time, us", "by the clock, us");
    println!("{:<44} {:>9} {:>7} {:>5} {thread:>26}   {clock:>17}", "", "", "", "over");
    println!(
        "{:<44} {:>9} {:>7} {:>5} {:>8} {:>8} {:>8}   {:>8} {:>8}",
        format!("slices of {SLICE_STEPS_MAX} steps, or {SLICE_SPAN}"),
        "a second",
        "slices",
        "100us",
        "50 %",
        "99 %",
        "longest",
        "99 %",
        "longest"
    );
}

fn at(sorted: &[Duration], permille: usize) -> String {
    let place = (sorted.len() * permille / 1000).min(sorted.len().saturating_sub(1));
    let span = sorted.get(place).copied().unwrap_or_default();
    format!("{:.1}", span.as_nanos() as f64 / 1000.0)
}

/// [`SLICE_SPAN`], for this clock.
const SLICE_TIME: Duration = Duration::from_nanos(SLICE_SPAN.whole_ns());

/// The loop of the live switch, without packets.
fn drive(mut agent: Agent, port_count: u16, woken: &Receiver<()>, notes: &Notes) {
    let mut device = Device::new(pipeline::Config::default());
    let port = PortConfig::strict(Rate::from_bps(1_000_000_000), 8);
    let ports = (1..=port_count).map(|number| (PortId(number), port.clone())).collect();
    let config = traffic::Config { ports, ..traffic::Config::default() };
    device.configure(Time::ZERO, config).expect("ports of one kind");
    let mut more = false;
    while !notes.stop.load(Ordering::Relaxed) {
        if !more {
            notes.idle.store(true, Ordering::Release);
            let _woken_or_ended = woken.recv();
            notes.idle.store(false, Ordering::Release);
        }
        let mut plane = Plane { device: &mut device, now: Time::ZERO };
        let (began, used) = (Instant::now(), thread_time());
        more = agent.work_a_slice(&mut plane, || began.elapsed() > SLICE_TIME);
        let slice = Slice { of_the_thread: thread_time() - used, by_the_clock: began.elapsed() };
        notes.slices.lock().expect("no panic").push(slice);
    }
}

/// The processor time that this thread has used.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
