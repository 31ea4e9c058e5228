//! The slotted crossbar of the literature: the experiment behind `vitrine-sim fabric`.
//!
//! N inputs and N outputs, packets of one length (cells), time in slots of one cell. In each slot
//! every input receives at most one cell (with Poisson arrivals any number, at any instant), then
//! the fabric is arbitrated, then each output sends at most one cell. A cell that leaves in the
//! slot it arrived in has waited 0 slots: the convention of Karol, Hluchyj and Morgan.
//!
//! There is no slotted model in here: the router is the [`Manager`] with a line rate, and a slot
//! is the time its line needs for one cell.

mod sources;

use traffic::outside::ArbiterOutside;
use traffic::{
    Arrival, Config, ConfigError, Counters, Histogram, InputConfig, Limit, Manager, Output,
    PortConfig, QueueConfig,
};
use units::{Bytes, ClassId, HasLength, PortId, Rate, Span, Time};

use crate::pattern::Pattern;
use crate::series::{Estimate, Series};
use crate::stop::Stop;

pub use sources::CellArrivals;

use sources::Sources;

/// All cells have this length.
pub const CELL: Bytes = Bytes(64);

/// The line's speed; 64 bytes at 10 Gb/s take exactly 51,200 ps.
pub const LINE_RATE: Rate = Rate::from_gbps(10);

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// N.
    pub port_count: usize,
    /// Queues and crossbar; none is an output-queued router.
    pub input: Option<InputConfig>,
    /// Limit of each output queue.
    pub output_limit: Limit,
    /// Where cells go.
    pub pattern: Pattern,
    /// When they come.
    pub arrivals: CellArrivals,
    /// Cells per input and slot on average, 0 to 1.
    pub load: f64,
    /// How many slots to observe.
    pub slots: u64,
    /// How many slots before that do not count.
    pub warm_up: u64,
    /// For all dice of the run.
    pub seed: u64,
}

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Cells that departed per output and observed slot.
    pub throughput: f64,
    /// Cells that were offered per input and observed slot.
    pub offered: f64,
    /// Waits in slots, without the cell's own slot on the line.
    pub wait: Estimate,
    /// The mean number of whole slots spent in the input stage. With a speedup of 2 a cell that
    /// crosses in the second half of the slot it arrived in has waited none.
    pub input_wait: f64,
    /// All waits observed.
    pub waits: Histogram,
    /// The router's books over the whole run.
    pub totals: Counters,
    /// Cells inside the router at the end.
    pub held_at_end: u64,
    /// Whether all books balance at the end.
    pub conserved: bool,
}

/// A cell: nothing but its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell;

impl HasLength for Cell {
    fn length(&self) -> Bytes {
        CELL
    }
}

/// An arbiter from outside, and whether the configured one decides too.
pub struct Guest {
    /// The arbiter.
    pub arbiter: Box<dyn ArbiterOutside>,
    /// Whether the first difference to the configured one ends the run.
    pub compared: bool,
}

/// Runs the experiment; fails only on an invalid configuration.
pub fn run(experiment: &Experiment) -> Result<Outcome, ConfigError> {
    match run_with(experiment, None) {
        Ok(outcome) => Ok(outcome),
        Err(Stop::Config(error)) => Err(error),
        Err(Stop::Fault(fault)) => unreachable!("nobody from outside decides: {fault}"),
    }
}

/// Runs the experiment with matches from outside, if there is a guest.
pub fn run_with(experiment: &Experiment, guest: Option<Guest>) -> Result<Outcome, Stop> {
    let slot = LINE_RATE.span_of(CELL);
    let mut manager = Manager::new(experiment.seed);
    manager.configure(Time::ZERO, router(experiment))?;
    let has_guest = guest.is_some();
    if let Some(Guest { arbiter, compared }) = guest {
        manager.invite_arbiter(arbiter, compared);
    }
    let mut sources = Sources::new(experiment, slot);
    let mut watch = Watch::new(experiment, slot);
    let mut arrivals = Vec::new();
    for number in 0..experiment.warm_up + experiment.slots {
        let start = Time::ZERO + slot * number;
        watch.drain(&mut manager, start);
        if let Some(fault) = manager.fault().filter(|_| has_guest) {
            return Err(Stop::Fault(fault.clone()));
        }
        sources.cells_of_slot(start, &mut arrivals);
        for &(at, input, output) in &arrivals {
            if at > start {
                watch.drain(&mut manager, at);
            }
            watch.count_offer(at);
            let arrival =
                Arrival::new(Cell, PortId(input as u16), PortId(output as u16), ClassId(0));
            // Drops are in the router's counters and not needed here.
            let _counted = manager.handle_packet(at, arrival);
        }
    }
    let end = Time::ZERO + slot * (experiment.warm_up + experiment.slots);
    watch.drain(&mut manager, end);
    match manager.fault() {
        Some(fault) => Err(Stop::Fault(fault.clone())),
        None => Ok(watch.finish(&manager)),
    }
}

/// The router: N ports with one queue each.
fn router(experiment: &Experiment) -> Config {
    let mut port = PortConfig::strict(Some(LINE_RATE), 1);
    port.queues = vec![QueueConfig { limit: experiment.output_limit, ..QueueConfig::default() }];
    let ports = (0..experiment.port_count as u16).map(|id| (PortId(id), port.clone()));
    Config { ports: ports.collect(), input: experiment.input.clone(), ..Config::default() }
}

/// The observer that takes notes.
struct Watch {
    slot: Span,
    port_count: usize,
    observed_from: Time,
    slots: u64,
    offered: u64,
    departed: u64,
    input_wait_slots: u64,
    series: Series,
    waits: Histogram,
}

impl Watch {
    fn new(experiment: &Experiment, slot: Span) -> Watch {
        Watch {
            slot,
            port_count: experiment.port_count,
            observed_from: Time::ZERO + slot * experiment.warm_up,
            slots: experiment.slots,
            offered: 0,
            departed: 0,
            input_wait_slots: 0,
            series: Series::default(),
            waits: Histogram::default(),
        }
    }

    fn count_offer(&mut self, at: Time) {
        self.offered += u64::from(at >= self.observed_from);
    }

    fn drain(&mut self, manager: &mut Manager<Cell>, now: Time) {
        while let Some(output) = manager.poll_output(now) {
            let Output::Depart(departure) = output else { continue };
            if departure.at < self.observed_from {
                continue;
            }
            let wait = departure.at.since(departure.residence.arrived_at);
            let done = departure.at.since(self.observed_from).ps();
            let slots = wait.ps() as f64 / self.slot.ps() as f64;
            self.series.record(slots, done, (self.slot * self.slots).ps());
            self.waits.record(wait);
            self.input_wait_slots += departure.input_span().ps() / self.slot.ps();
            self.departed += 1;
        }
    }

    fn finish(self, manager: &Manager<Cell>) -> Outcome {
        let port_slots = (self.port_count as u64 * self.slots) as f64;
        let cells = self.departed.max(1) as f64;
        Outcome {
            throughput: self.departed as f64 / port_slots,
            offered: self.offered as f64 / port_slots,
            wait: self.series.estimate(),
            input_wait: self.input_wait_slots as f64 / cells,
            waits: self.waits,
            totals: *manager.totals(),
            held_at_end: manager.held().packets,
            conserved: manager.balance(),
        }
    }
}
