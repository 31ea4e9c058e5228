//! `vitrine-sim fabric`: an N x N router under a traffic pattern, slot by slot.

mod arguments;

use p4c::output;
use queueing::Stop;
use queueing::slotted::{self, Experiment, Outcome};
use serde_json::{Value, json};

pub use arguments::Arguments;

use crate::outside;
use crate::plot::{self, Line, Panel};
use arguments::Router;

/// One run: the router, the request and the results.
struct Run {
    router: Router,
    experiment: Experiment,
    outcome: Outcome,
}

/// Runs every router at every load, prints a JSON line for each run, and draws them if asked to.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let mut runs = Vec::new();
    for router in arguments.routers() {
        for load in arguments.loads()? {
            let experiment = arguments.experiment(&router, load);
            let guest = arguments.guest(&router)?;
            let outcome = slotted::run_with(&experiment, guest);
            let outcome = outcome.map_err(|stop| told(&router, &stop))?;
            let run = Run { router: router.clone(), experiment, outcome };
            output::show(format_args!("{}\n", run.line()));
            runs.push(run);
        }
    }
    match &arguments.plot {
        Some(file) => plot::draw(file, &panels(&runs)),
        None => Ok(()),
    }
}

/// The reason why there is no outcome. A decider's fault is in the JSON, too.
fn told(router: &Router, stop: &Stop) -> String {
    if let Stop::Fault(fault) = stop {
        output::show(format_args!(
            "{}\n",
            outside::fault_line("fabric", router.arbiter_name().unwrap_or(""), fault)
        ));
        return format!("{router}: {fault}");
    }
    stop.to_string()
}

impl Run {
    fn line(&self) -> Value {
        let Run { router, experiment, outcome } = self;
        let dropped: serde_json::Map<String, Value> = outcome
            .totals
            .drops()
            .map(|(reason, tally)| (reason.name().to_owned(), json!(tally.packets)))
            .collect();
        let cell_ps = slotted::LINE_RATE.span_of(slotted::CELL).ps() as f64;
        let percentile = |permille| outcome.waits.percentile(permille).ps() as f64 / cell_ps;
        json!({
            "run": "fabric",
            "ports": experiment.port_count,
            "input": router.input_name(),
            "arbiter": router.arbiter_name(),
            "speedup": router.speedup_name(),
            "pattern": experiment.pattern.to_string(),
            "arrivals": arguments::arrivals_name(experiment.arrivals),
            "load": experiment.load,
            "slots": experiment.slots,
            "seed": experiment.seed,
            "offered": outcome.offered,
            "throughput": outcome.throughput,
            "wait_slots": outcome.wait.mean,
            "wait_plus_minus_slots": finite(outcome.wait.plus_minus),
            "wait_p50_slots": percentile(500),
            "wait_p99_slots": percentile(990),
            "wait_max_slots": outcome.waits.max().ps() as f64 / cell_ps,
            "input_wait_slots": outcome.input_wait,
            "dropped_cells": dropped,
            "held_at_end_cells": outcome.held_at_end,
            "conserved": outcome.conserved,
        })
    }
}

/// JSON knows no infinity: an uncertainty that could not be estimated is null.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Delay and throughput against load, a line for each router.
fn panels(runs: &[Run]) -> Vec<Panel> {
    let lines = |y: fn(&Outcome) -> f64| {
        let mut lines: Vec<Line> = Vec::new();
        for run in runs {
            let name = run.router.to_string();
            let point = (run.experiment.load, y(&run.outcome));
            match lines.last_mut() {
                Some(line) if line.name == name => line.points.push(point),
                _ => lines.push(Line { name, points: vec![point] }),
            }
        }
        lines
    };
    let what = runs.first().map_or(String::new(), |run| {
        let experiment = &run.experiment;
        format!("{0} x {0}, {1}", experiment.port_count, experiment.pattern)
    });
    vec![
        Panel {
            title: format!("Mean wait ({what})"),
            x_label: "offered load (cells per slot and input)".to_owned(),
            y_label: "wait (slots)".to_owned(),
            log_y: true,
            lines: lines(|outcome| outcome.wait.mean),
        },
        Panel {
            title: format!("Throughput ({what})"),
            x_label: "offered load (cells per slot and input)".to_owned(),
            y_label: "throughput (cells per slot and output)".to_owned(),
            log_y: false,
            lines: lines(|outcome| outcome.throughput),
        },
    ]
}
