//! The arguments of `vitrine-sim queue`, and the experiments they describe.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use queueing::one_port::{Experiment, Guests, Source};
use traffic::{AqmConfig, Discipline, Ecn, NodeConfig, PortConfig, SchedulerConfig, ShaperConfig};
use units::{Bytes, ClassId, Rate, Span};

use super::aqm::Aqm;
use super::words;
use crate::outside::{self, Class};
use crate::sweep;

/// One output port under traffic: waits, losses, marks and shares, class by class.
///
/// `--scheduler` and `--aqm` take lists; every combination is run at every load. Lists that
/// describe classes have one value for each class, class 0 (the lowest) first; one value alone is
/// for all.
#[derive(Args)]
pub struct Arguments {
    /// The line's rate, with its unit.
    #[arg(long, default_value = "10 Mb/s")]
    rate: Rate,
    /// Offered load of each class, as a share of the line; decides how many classes there are.
    #[arg(long, value_delimiter = ',', default_value = "0.8")]
    loads: Vec<f64>,
    /// Total loads from FROM to TO in steps of STEP, shared in the proportion of --loads.
    #[arg(long, value_name = "FROM:TO:STEP")]
    sweep: Option<String>,
    /// The scheduler: strict, tree (rates, ceils and borrowing), or a discipline by its name in
    /// topology files, such as drr. Or a Python class of yours: FILE.py:CLASS.
    #[arg(long, value_delimiter = ',', default_value = "strict")]
    scheduler: Vec<Scheduler>,
    /// A built-in discipline, or method of queue management, that decides beside a Python class;
    /// the first decision that differs ends the run.
    #[arg(long, value_name = "NAME")]
    same_as: Option<String>,
    /// Weights of the classes for a discipline; quanta in frames for tree.
    #[arg(long, value_delimiter = ',', default_value = "1")]
    weights: Vec<u32>,
    /// The rate that tree guarantees each class; an equal share of the line if not given.
    #[arg(long, value_delimiter = ',')]
    guarantees: Vec<Rate>,
    /// The ceil that tree sets for each class; the line's rate if not given.
    #[arg(long, value_delimiter = ',')]
    ceils: Vec<Rate>,
    /// A rate of each queue's own: a rate with its unit, or `none`.
    #[arg(long, value_delimiter = ',', default_value = "none")]
    shapers: Vec<String>,
    /// Arrivals of each class: `poisson`, `constant`, or `onoff:N` for bursts of N packets.
    #[arg(long, value_delimiter = ',', default_value = "poisson")]
    arrivals: Vec<String>,
    /// Packet lengths of each class: bytes, `exp:BYTES` (exponential) or `imix`.
    #[arg(long, value_delimiter = ',', default_value = "1000")]
    lengths: Vec<String>,
    /// Limit of each queue: packets such as `64`, bytes such as `100000B`, or `none`.
    #[arg(long, value_delimiter = ',', default_value = "none")]
    limits: Vec<String>,
    /// Active queue management of all queues: none, or a method and its parameters by the names of
    /// topology files, such as codel, codel:target=5ms:ecn=no or ecn_step:threshold=20. A method
    /// for two classes (dualpi2) manages its L4S class from class 0. Or a Python class of yours,
    /// FILE.py:CLASS, one of it for each queue.
    #[arg(long, value_delimiter = ',', default_value = "none")]
    aqm: Vec<Aqm>,
    /// The ECN codepoint of each class's packets. Those of ect0 and ect1 are marked where others
    /// would be dropped; where two classes are managed as a pair, it selects their queue. Without a
    /// value, all classes have ect0.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        num_args = 0..=1,
        require_equals = true,
        default_value = "not-ect",
        default_missing_value = "ect0"
    )]
    ecn: Vec<Codepoint>,
    /// Seconds to observe.
    #[arg(long, default_value_t = 100)]
    seconds: u64,
    /// Seconds before that, so that the start does not count.
    #[arg(long, default_value_t = 1)]
    warm_up: u64,
    /// Seed of all dice.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Draw into this SVG file: with --sweep, waits and throughput against load; else the bytes
    /// queued over time.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Codepoint {
    NotEct,
    Ect0,
    Ect1,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Scheduler {
    /// A Python class, as it was written.
    Outside(String, Class),
    Shared(Discipline),
    Strict,
    Tree,
}

/// One of the configurations to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    scheduler: Scheduler,
    aqm: Aqm,
}

/// The quantum of DRR for weight 1: the longest frame on standard Ethernet.
const QUANTUM: Bytes = Bytes(1514);

/// A figure over time has this many points.
const SAMPLE_COUNT: u64 = 1000;

impl Arguments {
    /// Every combination of scheduler and AQM.
    pub fn setups(&self) -> Vec<Setup> {
        let mut setups = Vec::new();
        for scheduler in &self.scheduler {
            let setup = |aqm: &Aqm| Setup { scheduler: scheduler.clone(), aqm: aqm.clone() };
            setups.extend(self.aqm.iter().map(setup));
        }
        setups
    }

    /// Whether the runs differ in load.
    pub fn sweeps(&self) -> bool {
        self.sweep.is_some()
    }

    /// The loads of the classes, for each run.
    pub fn loads(&self) -> Result<Vec<Vec<f64>>, String> {
        if let Some(load) = self.loads.iter().find(|load| !(**load > 0.0 && load.is_finite())) {
            return Err(format!("--loads: {load} is not a load; give a share such as 0.8"));
        }
        let Some(text) = &self.sweep else { return Ok(vec![self.loads.clone()]) };
        let sum: f64 = self.loads.iter().sum();
        let scaled = |total: f64| self.loads.iter().map(|load| load / sum * total).collect();
        Ok(sweep::read(text)?.into_iter().filter(|total| *total > 0.0).map(scaled).collect())
    }

    /// The experiment that the arguments describe.
    pub fn experiment(&self, setup: &Setup, loads: &[f64]) -> Result<Experiment, String> {
        let mut port = PortConfig::strict(Some(self.rate), loads.len());
        port.scheduler = self.scheduler_config(&setup.scheduler, loads.len())?;
        let mut sources = Vec::new();
        for (class, load) in loads.iter().copied().enumerate() {
            let queue = &mut port.queues[class];
            queue.limit = words::limit(&of_class("limits", &self.limits, class)?)?;
            queue.shaper = shaper(&of_class("shapers", &self.shapers, class)?)?;
            queue.aqm = self.aqm_config(&setup.aqm)?;
            let lengths = words::lengths(&of_class("lengths", &self.lengths, class)?)?;
            let packet_s = lengths.mean() * 8.0 / self.rate.bps() as f64;
            let arrivals = of_class("arrivals", &self.arrivals, class)?;
            let arrivals = words::arrivals(&arrivals, load, packet_s)?;
            let ecn = match of_class("ecn", &self.ecn, class)? {
                Codepoint::NotEct => Ecn::NotEct,
                Codepoint::Ect0 => Ecn::Ect0,
                Codepoint::Ect1 => Ecn::Ect1,
            };
            sources.push(Source { class: ClassId(class as u8), arrivals, lengths, ecn });
        }
        // The L4S queue of a pair is managed by the method of the other queue.
        let l4s_class = setup.aqm.config().and_then(|aqm| aqm.l4s_class());
        if let Some(queue) = l4s_class.and_then(|class| port.queues.get_mut(class.index())) {
            queue.aqm = None;
        }
        let whole = Span::from_secs(self.warm_up + self.seconds);
        let sample_every = (self.plot.is_some() && !self.sweeps()).then_some(whole / SAMPLE_COUNT);
        Ok(Experiment {
            port,
            sources,
            warm_up: Span::from_secs(self.warm_up),
            duration: Span::from_secs(self.seconds),
            seed: self.seed,
            sample_every,
        })
    }

    fn scheduler_config(
        &self,
        scheduler: &Scheduler,
        class_count: usize,
    ) -> Result<SchedulerConfig, String> {
        let weights = (0..class_count).map(|class| of_class("weights", &self.weights, class));
        let weights: Vec<u32> = weights.collect::<Result<_, _>>()?;
        Ok(match scheduler {
            Scheduler::Outside(..) => match &self.same_as {
                Some(name) => SchedulerConfig::shared(discipline(name)?, &weights),
                None => SchedulerConfig::strict(class_count),
            },
            Scheduler::Shared(discipline) => SchedulerConfig::shared(*discipline, &weights),
            Scheduler::Strict => SchedulerConfig::strict(class_count),
            Scheduler::Tree => self.tree(&weights)?,
        })
    }

    fn aqm_config(&self, aqm: &Aqm) -> Result<Option<AqmConfig>, String> {
        match &self.same_as {
            Some(name) if aqm.class().is_some() => Ok(name.parse::<Aqm>()?.config()),
            _ => Ok(aqm.config()),
        }
    }

    /// The deciders in Python that a setup has, begun anew.
    pub fn guests(&self, setup: &Setup) -> Result<Guests, String> {
        let compared = self.same_as.is_some();
        let (mut guests, rate_bps) = (Guests::default(), self.rate.bps());
        if let Scheduler::Outside(name, class) = &setup.scheduler {
            let weights = (0..self.loads.len()).map(|at| of_class("weights", &self.weights, at));
            let weights: Vec<u32> = weights.collect::<Result<_, _>>()?;
            let started = outside::Scheduler::start(class, &weights, rate_bps);
            let started = started.map_err(|error| format!("{name}: {error}"))?;
            guests.scheduler = Some((Box::new(started), compared));
        }
        if let Some(class) = setup.aqm.class() {
            for number in 0..self.loads.len() {
                let started = outside::Aqm::start(class, rate_bps, self.seed);
                let started = started.map_err(|error| format!("{}: {error}", setup.aqm.name()))?;
                guests.aqms.push((ClassId(number as u8), Box::new(started), compared));
            }
        }
        Ok(guests)
    }

    /// A root with the line's rate and a leaf for each class.
    fn tree(&self, weights: &[u32]) -> Result<SchedulerConfig, String> {
        let equal = Rate::from_bps(self.rate.bps() / weights.len() as u64).unwrap_or(self.rate);
        let mut leaves = Vec::new();
        for (class, weight) in weights.iter().enumerate() {
            let rate = rate_of_class("guarantees", &self.guarantees, class, equal)?;
            let ceil = rate_of_class("ceils", &self.ceils, class, self.rate)?;
            let mut leaf = NodeConfig::leaf(&format!("class {class}"), class as u8, rate, ceil);
            leaf.set_quantum(Bytes(QUANTUM.count() * u64::from(*weight)));
            leaves.push(leaf);
        }
        Ok(SchedulerConfig::Hierarchy(NodeConfig::inner("root", self.rate, self.rate, leaves)))
    }
}

impl Setup {
    /// The scheduler's name as it is given.
    pub fn scheduler_name(&self) -> &str {
        match &self.scheduler {
            Scheduler::Outside(name, _) => name,
            Scheduler::Shared(discipline) => discipline.name(),
            Scheduler::Strict => "strict",
            Scheduler::Tree => "tree",
        }
    }

    /// The AQM as it was given.
    pub fn aqm_name(&self) -> &str {
        self.aqm.name()
    }
}

impl FromStr for Scheduler {
    type Err = String;

    fn from_str(text: &str) -> Result<Scheduler, String> {
        match text {
            "strict" => Ok(Scheduler::Strict),
            "tree" => Ok(Scheduler::Tree),
            name => match Class::parse(name) {
                Some((class, None)) => Ok(Scheduler::Outside(name.to_owned(), class)),
                _ => discipline(name).map(Scheduler::Shared),
            },
        }
    }
}

fn discipline(name: &str) -> Result<Discipline, String> {
    Discipline::named(name, QUANTUM).ok_or_else(|| {
        let names = Discipline::NAMES.join(", ");
        format!("`{name}` is no scheduler; use strict, tree, {names}, or FILE.py:CLASS")
    })
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.aqm_name() {
            "none" => write!(f, "{}", self.scheduler_name()),
            aqm => write!(f, "{} {aqm}", self.scheduler_name()),
        }
    }
}

/// The value of a list for one class.
fn of_class<T: Clone>(name: &str, list: &[T], class: usize) -> Result<T, String> {
    match list {
        [only] => Ok(only.clone()),
        _ => list.get(class).cloned().ok_or_else(|| {
            format!("--{name} has {} values; give one, or one for each of --loads", list.len())
        }),
    }
}

/// The value of a list for one class, or `default` if the list was not given.
fn rate_of_class(name: &str, list: &[Rate], class: usize, default: Rate) -> Result<Rate, String> {
    if list.is_empty() { Ok(default) } else { of_class(name, list, class) }
}

fn shaper(text: &str) -> Result<Option<ShaperConfig>, String> {
    if text == "none" {
        return Ok(None);
    }
    let rate = text.parse().map_err(|error| format!("--shapers: {error}, or `none`"))?;
    Ok(Some(ShaperConfig::Bits { rate, burst: QUANTUM }))
}
