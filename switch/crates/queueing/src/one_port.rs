//! The experiment behind `vitrine-sim queue`: sources of traffic in front of one output port.

use traffic::outside::{AqmOutside, SchedulerOutside};
use traffic::{Arrival, Chance, Config, Counters, Ecn, Histogram, Manager, Output, PortConfig};
use units::{Bytes, ClassId, HasLength, PortId, Span, Time};

use crate::agenda::Agenda;
use crate::arrivals::{Arrivals, ArrivalsInAction};
use crate::lengths::Lengths;
use crate::series::{Estimate, Series};
use crate::stop::Stop;

/// One source of packets for one class.
#[derive(Clone, Debug)]
pub struct Source {
    /// The class its packets go to.
    pub class: ClassId,
    /// When they come.
    pub arrivals: Arrivals,
    /// How long they are.
    pub lengths: Lengths,
    /// Their ECN codepoint.
    pub ecn: Ecn,
}

/// One port, its sources, and how long to watch.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The port.
    pub port: PortConfig,
    /// The senders.
    pub sources: Vec<Source>,
    /// Waits are observed from here on; the queue has had time to forget that it began empty.
    pub warm_up: Span,
    /// How long to observe.
    pub duration: Span,
    /// For all dice of the run.
    pub seed: u64,
    /// Take a sample of the depths this often, if at all.
    pub sample_every: Option<Span>,
}

/// The results of one class.
#[derive(Clone, Debug)]
pub struct ClassOutcome {
    /// The class.
    pub class: ClassId,
    /// Waits in the queue, in seconds, without the packet's own time on the line.
    pub wait: Estimate,
    /// All waits after the warm-up.
    pub waits: Histogram,
    /// The queue's books over the whole run.
    pub counters: Counters,
    /// Bytes that departed after the warm-up.
    pub departed_bytes: Bytes,
}

/// The results of the run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Class by class.
    pub classes: Vec<ClassOutcome>,
    /// Whether all books balance at the end.
    pub conserved: bool,
    /// `(instant, bytes in each class)`, if samples were requested.
    pub samples: Vec<(Time, Vec<Bytes>)>,
}

/// A packet of the experiment: a length.
#[derive(Clone, Copy, Debug)]
struct Frame(Bytes);

impl HasLength for Frame {
    fn length(&self) -> Bytes {
        self.0
    }
}

/// An event of the agenda.
enum Event {
    Arrival { source: usize },
    Sample,
}

const PORT: PortId = PortId(1);

/// Deciders from outside.
#[derive(Default)]
pub struct Guests {
    /// The scheduler that chooses the class, and whether the configured one decides too.
    pub scheduler: Option<(Box<dyn SchedulerOutside>, bool)>,
    /// The AQM of each class, and whether the configured method decides too.
    pub aqms: Vec<(ClassId, Box<dyn AqmOutside>, bool)>,
}

/// Runs the experiment; fails only on an invalid port configuration.
pub fn run(experiment: &Experiment) -> Result<Outcome, traffic::ConfigError> {
    match run_with(experiment, Guests::default()) {
        Ok(outcome) => Ok(outcome),
        Err(Stop::Config(error)) => Err(error),
        Err(Stop::Fault(fault)) => unreachable!("nobody from outside decides: {fault}"),
    }
}

/// Runs the experiment with the guests' decisions.
pub fn run_with(experiment: &Experiment, guests: Guests) -> Result<Outcome, Stop> {
    let mut manager = Manager::new(experiment.seed);
    let ports = [(PORT, experiment.port.clone())].into();
    manager.configure(Time::ZERO, Config { ports, ..Config::default() })?;
    if let Some((scheduler, compared)) = guests.scheduler {
        manager.invite_scheduler(PORT, scheduler, compared);
    }
    for (class, aqm, compared) in guests.aqms {
        manager.invite_aqm(PORT, class, aqm, compared);
    }
    let mut sources = Vec::new();
    let mut agenda = Agenda::new();
    for (index, source) in experiment.sources.iter().enumerate() {
        let mut running = RunningSource {
            arrivals: source.arrivals.start(experiment.seed, &format!("arrivals/{index}")),
            chance: Chance::new(experiment.seed, &format!("lengths/{index}")),
        };
        agenda.note(Time::ZERO + running.arrivals.gap(), Event::Arrival { source: index });
        sources.push(running);
    }
    if experiment.sample_every.is_some() {
        agenda.note(Time::ZERO, Event::Sample);
    }
    let end = Time::ZERO + experiment.warm_up + experiment.duration;
    let mut watch = Watch::new(experiment);
    while let Some((now, event)) = agenda.take() {
        if now >= end {
            break;
        }
        watch.drain(&mut manager, now);
        if let Some(fault) = manager.fault() {
            return Err(Stop::Fault(fault.clone()));
        }
        match event {
            Event::Arrival { source: index } => {
                let running = &mut sources[index];
                let source = &experiment.sources[index];
                let frame = Frame(source.lengths.draw(&mut running.chance));
                let mut arrival = Arrival::new(frame, PortId(0), PORT, source.class);
                arrival.ecn = source.ecn;
                // Drops are in the queue's counters and not needed here.
                let _counted = manager.handle_packet(now, arrival);
                agenda.note(now + running.arrivals.gap(), Event::Arrival { source: index });
            }
            Event::Sample => {
                watch.samples.push((now, manager.queues().map(|q| q.depth.bytes).collect()));
                agenda.note(now + experiment.sample_every.unwrap_or(Span::MAX), Event::Sample);
            }
        }
    }
    watch.drain(&mut manager, end);
    match manager.fault() {
        Some(fault) => Err(Stop::Fault(fault.clone())),
        None => Ok(watch.finish(&manager)),
    }
}

struct RunningSource {
    arrivals: ArrivalsInAction,
    chance: Chance,
}

/// The observer that takes notes.
struct Watch {
    warm_up: Span,
    duration: Span,
    waits: Vec<(Series, Histogram, Bytes)>,
    samples: Vec<(Time, Vec<Bytes>)>,
}

impl Watch {
    fn new(experiment: &Experiment) -> Watch {
        let class_count = experiment.port.queues.len();
        Watch {
            warm_up: experiment.warm_up,
            duration: experiment.duration,
            waits: vec![(Series::default(), Histogram::default(), Bytes::ZERO); class_count],
            samples: Vec::new(),
        }
    }

    fn drain(&mut self, manager: &mut Manager<Frame>, now: Time) {
        while let Some(output) = manager.poll_output(now) {
            let Output::Depart(departure) = output else { continue };
            let observed = departure.at.since(Time::ZERO + self.warm_up);
            if observed == Span::ZERO {
                continue;
            }
            let wait = departure.queueing_span();
            let (series, histogram, bytes) = &mut self.waits[departure.class.index()];
            series.record(wait.as_secs_f64(), observed.ps(), self.duration.ps());
            histogram.record(wait);
            *bytes += departure.packet.0;
        }
    }

    fn finish(self, manager: &Manager<Frame>) -> Outcome {
        let classes = manager.queues().zip(self.waits).map(|(queue, watched)| {
            let (series, waits, departed_bytes) = watched;
            ClassOutcome {
                class: queue.class,
                wait: series.estimate(),
                waits,
                counters: *queue.counters,
                departed_bytes,
            }
        });
        Outcome { classes: classes.collect(), conserved: manager.balance(), samples: self.samples }
    }
}
