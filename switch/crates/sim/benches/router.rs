//! How fast the model runs: `cargo bench -p vitrine-sim`.
//!
//! Not a test: it depends on the machine. Wanted on one core: 3 million packet moves a second
//! through a 16-port VOQ + iSLIP-4 router at load .9, 10 million enqueue + dequeue pairs a second
//! through a port with 8 DRR classes, whatever the backlog.

use std::hint::black_box;
use std::time::Instant;

use queueing::Pattern;
use queueing::slotted::{self, CellArrivals, Experiment, LINE_RATE};
use traffic::{
    ArbiterConfig, Arrival, Config, Discipline, InputConfig, InputQueueing, Limit, Manager, Output,
    PortConfig, SchedulerConfig,
};
use units::{Bytes, ClassId, PortId, Rate, Span, Time};

fn main() {
    // `cargo bench -p vitrine-sim -- WORD` runs only what has the word in its name.
    let word = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let report = |name: &str, unit: &str, run: &dyn Fn() -> (u64, f64)| {
        if word.as_ref().is_none_or(|word| name.contains(word.as_str())) {
            report(name, unit, run());
        }
    };
    for backlog in [1, 8, 1_000, 100_000, 1_000_000] {
        let name = format!("one port, 8 DRR classes, {backlog} packets queued");
        report(&name, "pairs", &|| one_port(drr(), backlog));
    }
    let strict = SchedulerConfig::strict(8);
    let wfq = SchedulerConfig::shared(Discipline::Wfq, &[1; 8]);
    for (name, scheduler) in [("strict", strict), ("WFQ", wfq)] {
        let name = format!("one port, 8 {name} classes, 1000 packets queued");
        let port = PortConfig { scheduler, ..drr() };
        report(&name, "pairs", &|| one_port(port.clone(), 1_000));
    }
    for (name, arbiter) in [
        ("iSLIP-4", ArbiterConfig::Islip { iterations: 4 }),
        ("iSLIP-1", ArbiterConfig::Islip { iterations: 1 }),
        ("PIM-4", ArbiterConfig::Pim { iterations: 4 }),
        ("wavefront", ArbiterConfig::Wavefront),
        ("LQF", ArbiterConfig::Lqf),
    ] {
        let input = InputConfig::new(InputQueueing::Voq, LINE_RATE, arbiter);
        report(&format!("16 x 16 VOQ, {name}, load .9"), "moves", &|| fabric(Some(input.clone())));
    }
    report("16 x 16 output queues, load .9", "moves", &|| fabric(None));
}

fn report(name: &str, unit: &str, (count, seconds): (u64, f64)) {
    let (millions, ns) = (count as f64 / seconds / 1e6, seconds / count as f64 * 1e9);
    println!("{name:<52} {millions:>7.2} million {unit}/s {ns:>8.1} ns each");
}

fn drr() -> PortConfig {
    let mut port = PortConfig::strict(Some(Rate::from_gbps(10)), 8);
    let quantum = Bytes(1514);
    port.scheduler = SchedulerConfig::shared(Discipline::Drr { quantum }, &[1; 8]);
    port
}

/// Keeps `backlog` packets queued while packets of 1000 bytes pass; returns pairs and seconds.
fn one_port(mut port: PortConfig, backlog: u64) -> (u64, f64) {
    const PAIRS: u64 = 5_000_000;
    port.queues.iter_mut().for_each(|queue| queue.limit = Limit::NONE);
    let mut manager = Manager::new(1);
    let ports = [(PortId(1), port)].into();
    manager.configure(Time::ZERO, Config { ports, ..Config::default() }).expect("valid");
    // 1000 bytes at 10 Gb/s: each arrival lets one packet go.
    let gap = Span::from_ns(800);
    let mut now = Time::ZERO;
    let send = |manager: &mut Manager<Bytes>, now, number: u64| {
        let class = ClassId((number % 8) as u8);
        let verdict =
            manager.handle_packet(now, Arrival::new(Bytes(1000), PortId(0), PortId(1), class));
        assert!(matches!(verdict, traffic::Verdict::Held));
    };
    (0..backlog).for_each(|number| send(&mut manager, now, number));
    let started = Instant::now();
    let mut departed = 0;
    for number in 0..PAIRS {
        while let Some(output) = manager.poll_output(now) {
            departed += u64::from(matches!(black_box(output), Output::Depart(_)));
        }
        send(&mut manager, now, number);
        now += gap;
    }
    let seconds = started.elapsed().as_secs_f64();
    assert!(departed > PAIRS - 10, "{departed} of {PAIRS} departed");
    (PAIRS, seconds)
}

/// Runs a router at load .9; returns cells moved and seconds.
fn fabric(input: Option<InputConfig>) -> (u64, f64) {
    let experiment = Experiment {
        port_count: 16,
        input,
        output_limit: Limit::NONE,
        pattern: Pattern::Uniform,
        arrivals: CellArrivals::Bernoulli,
        load: 0.9,
        slots: 100_000,
        warm_up: 10_000,
        seed: 1,
    };
    let started = Instant::now();
    let outcome = slotted::run(&experiment).expect("valid");
    (outcome.totals.departed.packets, started.elapsed().as_secs_f64())
}
