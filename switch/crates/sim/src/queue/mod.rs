//! `vitrine-sim queue`: one output port with any scheduler and AQM, under traffic of any kind.

mod aqm;
mod arguments;
mod words;

use p4c::output;
use queueing::Stop;
use queueing::one_port::{self, ClassOutcome, Experiment, Outcome};
use serde_json::{Value, json};
use units::Bytes;

pub use arguments::Arguments;

use crate::outside;
use crate::plot::{self, Line, Panel};
use arguments::Setup;

/// One run: the port, the request and the results.
struct Run {
    setup: Setup,
    loads: Vec<f64>,
    experiment: Experiment,
    outcome: Outcome,
}

/// Runs every setup at every load, prints a JSON line for each run, and draws them if asked to.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let mut runs = Vec::new();
    for setup in arguments.setups() {
        for loads in arguments.loads()? {
            let experiment = arguments.experiment(&setup, &loads)?;
            let guests = arguments.guests(&setup)?;
            let outcome = one_port::run_with(&experiment, guests);
            let outcome = outcome.map_err(|stop| told(&setup, &stop))?;
            let run = Run { setup: setup.clone(), loads, experiment, outcome };
            output::show(format_args!("{}\n", run.line()));
            runs.push(run);
        }
    }
    match &arguments.plot {
        Some(file) if arguments.sweeps() => plot::draw(file, &panels_over_load(&runs)),
        Some(file) => plot::draw(file, &panels_over_time(&runs)),
        None => Ok(()),
    }
}

/// The reason why there is no outcome. A decider's fault is in the JSON, too.
fn told(setup: &Setup, stop: &Stop) -> String {
    if let Stop::Fault(fault) = stop {
        output::show(format_args!("{}\n", outside::fault_line("queue", &setup.to_string(), fault)));
        return format!("{setup}: {fault}");
    }
    stop.to_string()
}

impl Run {
    /// The run as one line: the request, then the results class by class.
    fn line(&self) -> Value {
        let Run { setup, loads, experiment, outcome } = self;
        let classes = outcome.classes.iter().zip(loads);
        json!({
            "run": "queue",
            "rate_bps": self.rate_bps(),
            "scheduler": setup.scheduler_name(),
            "aqm": setup.aqm_name(),
            "load": loads.iter().sum::<f64>(),
            "seed": experiment.seed,
            "duration_s": experiment.duration.as_secs_f64(),
            "conserved": outcome.conserved,
            "classes": classes.map(|(class, load)| self.class(class, *load)).collect::<Vec<_>>(),
        })
    }

    fn class(&self, outcome: &ClassOutcome, load: f64) -> Value {
        let counters = &outcome.counters;
        let dropped: serde_json::Map<String, Value> = counters
            .drops()
            .map(|(reason, tally)| (reason.name().to_owned(), json!(tally.packets)))
            .collect();
        let us = |permille| outcome.waits.percentile(permille).as_secs_f64() * 1e6;
        let lost = counters.dropped_in_all().packets as f64;
        let uncertainty_us = outcome.wait.plus_minus * 1e6;
        json!({
            "class": outcome.class.0,
            "load": load,
            "offered_packets": counters.offered.packets,
            "departed_packets": counters.departed.packets,
            "marked_packets": counters.marked.packets,
            "dropped_packets": dropped,
            "loss": lost / counters.offered.packets.max(1) as f64,
            "throughput_bps": self.throughput_bps(outcome.departed_bytes),
            "share_of_line": self.throughput_bps(outcome.departed_bytes) / self.rate_bps() as f64,
            "wait_us": outcome.wait.mean * 1e6,
            "wait_plus_minus_us": uncertainty_us.is_finite().then_some(uncertainty_us),
            "wait_p50_us": us(500),
            "wait_p99_us": us(990),
            "wait_max_us": outcome.waits.max().as_secs_f64() * 1e6,
        })
    }

    fn rate_bps(&self) -> u64 {
        self.experiment.port.line_rate.map_or(1, |rate| rate.bps())
    }

    fn throughput_bps(&self, departed: Bytes) -> f64 {
        departed.bits() as f64 / self.experiment.duration.as_secs_f64()
    }

    fn name_of(&self, class: &ClassOutcome) -> String {
        match self.outcome.classes.len() {
            1 => self.setup.to_string(),
            _ => format!("{}, class {}", self.setup, class.class),
        }
    }
}

/// Waits and throughput against total load, a line for each setup and class.
fn panels_over_load(runs: &[Run]) -> Vec<Panel> {
    let lines = |y: &dyn Fn(&Run, &ClassOutcome) -> f64| {
        let mut lines: Vec<Line> = Vec::new();
        for run in runs {
            for class in &run.outcome.classes {
                let name = run.name_of(class);
                let point = (run.loads.iter().sum(), y(run, class));
                match lines.iter_mut().find(|line| line.name == name) {
                    Some(line) => line.points.push(point),
                    None => lines.push(Line { name, points: vec![point] }),
                }
            }
        }
        lines
    };
    let panel = |title: &str, y_label: &str, log_y, lines| Panel {
        title: title.to_owned(),
        x_label: "offered load (share of the line)".to_owned(),
        y_label: y_label.to_owned(),
        log_y,
        lines,
    };
    vec![
        panel("Mean wait", "wait (ms)", true, lines(&|_, class| class.wait.mean * 1e3)),
        panel(
            "Throughput",
            "throughput (Mb/s)",
            false,
            lines(&|run, class| run.throughput_bps(class.departed_bytes) / 1e6),
        ),
    ]
}

/// The depth over time, a line for each setup and class.
fn panels_over_time(runs: &[Run]) -> Vec<Panel> {
    let mut lines = Vec::new();
    for run in runs {
        for (index, class) in run.outcome.classes.iter().enumerate() {
            let point = |(at, depths): &(units::Time, Vec<Bytes>)| {
                let seconds = at.since(units::Time::ZERO).as_secs_f64();
                (seconds, depths[index].count() as f64 / 1e3)
            };
            let points = run.outcome.samples.iter().map(point).collect();
            lines.push(Line { name: run.name_of(class), points });
        }
    }
    vec![Panel {
        title: "Queues".to_owned(),
        x_label: "time (s)".to_owned(),
        y_label: "waiting (kB)".to_owned(),
        log_y: false,
        lines,
    }]
}
