//! `vitrine-sim queue`: one output port with any scheduler, under traffic of any kind.

mod arguments;

use serde_json::{Value, json};
use units::Bytes;
use world::one_port::{ClassOutcome, Experiment, Outcome};

pub use arguments::Arguments;

/// Runs the experiment and prints its JSON line.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let experiment = arguments.experiment()?;
    let outcome = world::one_port::run(&experiment).map_err(|error| error.to_string())?;
    println!("{}", line(arguments, &experiment, &outcome));
    Ok(())
}

/// One run as one line: what was asked, then class by class what came of it.
fn line(arguments: &Arguments, experiment: &Experiment, outcome: &Outcome) -> Value {
    let rate_bps = experiment.port.line_rate.map_or(0, |rate| rate.bps());
    let observed_s = experiment.duration.as_secs_f64();
    let class = |class: &ClassOutcome| class_value(class, observed_s, rate_bps);
    json!({
        "run": "queue",
        "rate_bps": rate_bps,
        "scheduler": arguments.scheduler_name(),
        "seed": experiment.seed,
        "duration_s": observed_s,
        "conserved": outcome.conserved,
        "classes": outcome.classes.iter().map(class).collect::<Vec<_>>(),
    })
}

fn class_value(outcome: &ClassOutcome, observed_s: f64, rate_bps: u64) -> Value {
    let counters = &outcome.counters;
    let bits = |bytes: Bytes| bytes.bits() as f64;
    let dropped: serde_json::Map<String, Value> = counters
        .drops()
        .map(|(reason, tally)| (reason.name().to_owned(), json!(tally.packets)))
        .collect();
    let us = |permille| outcome.waits.percentile(permille).as_secs_f64() * 1e6;
    json!({
        "class": outcome.class.0,
        "offered_packets": counters.offered.packets,
        "departed_packets": counters.departed.packets,
        "marked_packets": counters.marked.packets,
        "dropped_packets": dropped,
        "loss": counters.dropped_in_all().packets as f64 / counters.offered.packets.max(1) as f64,
        "throughput_bps": bits(outcome.departed_bytes) / observed_s,
        "share_of_line": bits(outcome.departed_bytes) / observed_s / rate_bps.max(1) as f64,
        "wait_us": outcome.wait.mean * 1e6,
        "wait_plus_minus_us": outcome.wait.plus_minus * 1e6,
        "wait_p50_us": us(500),
        "wait_p99_us": us(990),
        "wait_max_us": outcome.waits.max().as_secs_f64() * 1e6,
    })
}
