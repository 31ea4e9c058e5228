//! The arguments of `vitrine-sim fabric`, and the routers and experiments they describe.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use queueing::Pattern;
use queueing::slotted::{CellArrivals, Experiment, Guest, LINE_RATE};
use traffic::{ArbiterConfig, FullOutput, InputConfig, InputQueueing, Limit};
use units::Ratio;

use crate::outside::{self, Class};
use crate::sweep;

/// An N x N router under a traffic pattern: waits, throughput and losses against load.
///
/// `--input`, `--arbiter` and `--speedup` take lists; every combination is run at every load.
#[derive(Args)]
pub struct Arguments {
    /// N.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=128))]
    ports: u16,
    /// Queues at the inputs; `none` is an output-queued router.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "voq")]
    input: Vec<Input>,
    /// The arbiter that matches inputs and outputs, by its name in topology files, with iterations
    /// where it has some: islip:4, round_robin, lqf. Or a Python class of yours: FILE.py:CLASS,
    /// with iterations if it takes some, my.py:Slip:4.
    #[arg(long, value_delimiter = ',', default_value = "islip:4")]
    arbiter: Vec<Arbiter>,
    /// A built-in arbiter that decides beside a Python class; the first match that differs ends the
    /// run.
    #[arg(long, value_name = "ARBITER")]
    same_as: Option<Arbiter>,
    /// How much faster than a line the crossbar is: a whole number or a fraction such as 3/2.
    #[arg(long, value_delimiter = ',', default_value = "1")]
    speedup: Vec<Speedup>,
    /// Drop at full outputs instead of waiting in the input stage.
    #[arg(long)]
    lossy: bool,
    /// Limit of each output queue, in cells.
    #[arg(long, value_name = "CELLS")]
    output_limit: Option<u64>,
    /// Limit of each input port, in cells.
    #[arg(long, value_name = "CELLS")]
    input_limit: Option<u64>,
    /// Where cells go: uniform, diagonal, logdiagonal, unbalanced:W, hotspot:PERCENT, permutation.
    #[arg(long, default_value = "uniform")]
    pattern: Pattern,
    /// When cells come: bernoulli, onoff:BURST or poisson.
    #[arg(long, default_value = "bernoulli")]
    arrivals: Arrivals,
    /// Cells per slot and input, from 0 to 1.
    #[arg(long, value_delimiter = ',', default_value = "0.9", conflicts_with = "sweep")]
    load: Vec<f64>,
    /// Loads from FROM to TO in steps of STEP.
    #[arg(long, value_name = "FROM:TO:STEP")]
    sweep: Option<String>,
    /// Slots to observe.
    #[arg(long, default_value_t = 100_000)]
    slots: u64,
    /// Slots before that; a tenth of --slots if not given.
    #[arg(long)]
    warm_up: Option<u64>,
    /// Seed of all dice.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Draw delay and throughput against load into this SVG file.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Input {
    Fifo,
    None,
    Voq,
}

/// An arbiter as it was written, and as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Arbiter {
    name: String,
    /// Of a Python class it is what stands in its place.
    config: ArbiterConfig,
    iterations: u8,
    class: Option<Class>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Speedup(Ratio);

#[derive(Clone, Copy)]
struct Arrivals(CellArrivals);

/// A router to be compared with others: nothing behind an output-queued one.
#[derive(Clone, PartialEq, Eq)]
pub struct Router(Option<(Input, Arbiter, Speedup)>);

impl Arguments {
    /// Every combination of input stage, arbiter and speedup; output queueing has only one.
    pub fn routers(&self) -> Vec<Router> {
        let mut routers = Vec::new();
        for input in &self.input {
            if *input == Input::None {
                routers.push(Router(None));
                continue;
            }
            for arbiter in &self.arbiter {
                for speedup in &self.speedup {
                    routers.push(Router(Some((*input, arbiter.clone(), *speedup))));
                }
            }
        }
        routers
    }

    /// The loads to run.
    pub fn loads(&self) -> Result<Vec<f64>, String> {
        let loads = match &self.sweep {
            None => self.load.clone(),
            Some(text) => sweep::read(text)?,
        };
        match loads.iter().find(|load| !(0.0..=1.0).contains(*load)) {
            Some(load) => Err(format!("--load: {load} is not between 0 and 1 cell per slot")),
            None => Ok(loads),
        }
    }

    /// One run.
    pub fn experiment(&self, router: &Router, load: f64) -> Experiment {
        let cells = |limit: Option<u64>| limit.map_or(Limit::NONE, Limit::packets);
        let input = router.0.as_ref().map(|(input, arbiter, speedup)| {
            let queueing =
                if *input == Input::Fifo { InputQueueing::Fifo } else { InputQueueing::Voq };
            let arbiter = match &self.same_as {
                Some(built_in) if arbiter.class.is_some() => built_in,
                _ => arbiter,
            };
            let mut config = InputConfig::new(queueing, LINE_RATE, arbiter.config);
            config.limit = cells(self.input_limit);
            config.fabric.speedup = speedup.0;
            if self.lossy {
                config.fabric.full_output = FullOutput::Lossy;
            }
            config
        });
        Experiment {
            port_count: usize::from(self.ports),
            input,
            output_limit: cells(self.output_limit),
            pattern: self.pattern,
            arrivals: self.arrivals.0,
            load,
            slots: self.slots,
            warm_up: self.warm_up.unwrap_or(self.slots / 10),
            seed: self.seed,
        }
    }
}

impl Arguments {
    /// The router's arbiter in Python, if it has one, begun anew.
    pub fn guest(&self, router: &Router) -> Result<Option<Guest>, String> {
        let Some((_, arbiter, _)) = &router.0 else { return Ok(None) };
        let Some(class) = &arbiter.class else { return Ok(None) };
        let started =
            outside::Arbiter::start(class, usize::from(self.ports), arbiter.iterations, self.seed);
        let started = started.map_err(|error| format!("{}: {error}", arbiter.name))?;
        Ok(Some(Guest { arbiter: Box::new(started), compared: self.same_as.is_some() }))
    }
}

impl Router {
    /// `none`, `fifo` or `voq`.
    pub fn input_name(&self) -> &'static str {
        match &self.0 {
            None => "none",
            Some((Input::Fifo, ..)) => "fifo",
            Some(_) => "voq",
        }
    }

    /// The arbiter as it was written, if there is one.
    pub fn arbiter_name(&self) -> Option<&str> {
        self.0.as_ref().map(|(_, arbiter, _)| arbiter.name.as_str())
    }

    /// The speedup, if there is a crossbar.
    pub fn speedup_name(&self) -> Option<String> {
        self.0.as_ref().map(|(_, _, speedup)| speedup.0.to_string())
    }
}

impl fmt::Display for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => write!(f, "output queues"),
            Some((_, arbiter, speedup)) => {
                write!(f, "{} {}", self.input_name(), arbiter.name)?;
                if speedup.0 != Ratio::ONE {
                    write!(f, ", speedup {}", speedup.0)?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Arbiter {
    type Err = String;

    fn from_str(text: &str) -> Result<Arbiter, String> {
        let iterations = |count: &str| {
            count.parse::<u8>().ok().filter(|count| *count > 0).ok_or_else(|| {
                format!("`{text}`: iterations are a whole number from 1 to 255, as in islip:4")
            })
        };
        if let Some((class, count)) = Class::parse(text) {
            let iterations = iterations(count.unwrap_or("1"))?;
            let config = ArbiterConfig::Islip { iterations };
            return Ok(Arbiter { name: text.to_owned(), config, iterations, class: Some(class) });
        }
        let (name, count) = text.split_once(':').unwrap_or((text, "1"));
        let iterations = iterations(count)?;
        let config = ArbiterConfig::named(name, iterations).ok_or_else(|| {
            let names = ArbiterConfig::NAMES.join(", ");
            format!("`{name}` is no arbiter; use one of {names}, or FILE.py:CLASS")
        })?;
        if config.iterations().is_none() && text.contains(':') {
            return Err(format!("`{text}`: {name} has no iterations"));
        }
        Ok(Arbiter { name: text.to_owned(), config, iterations, class: None })
    }
}

impl FromStr for Speedup {
    type Err = String;

    fn from_str(text: &str) -> Result<Speedup, String> {
        let (over, under) = text.split_once('/').unwrap_or((text, "1"));
        let ratio = over.parse().ok().zip(under.parse().ok());
        let ratio = ratio.and_then(|(over, under)| Ratio::new(over, under));
        ratio.filter(|ratio| *ratio >= Ratio::ONE).map(Speedup).ok_or_else(|| {
            format!("`{text}` is no speedup; write a number of at least 1, such as 2 or 3/2")
        })
    }
}

impl FromStr for Arrivals {
    type Err = String;

    fn from_str(text: &str) -> Result<Arrivals, String> {
        match text.split_once(':') {
            None if text == "bernoulli" => Ok(Arrivals(CellArrivals::Bernoulli)),
            None if text == "poisson" => Ok(Arrivals(CellArrivals::Poisson)),
            Some(("onoff", burst)) => match burst.parse() {
                Ok(burst) if burst > 0 => Ok(Arrivals(CellArrivals::OnOff { burst })),
                _ => Err(format!("`{text}`: a burst is a positive number of cells")),
            },
            _ => Err(format!("`{text}` is unknown; use bernoulli, poisson or onoff:BURST")),
        }
    }
}

/// The value of `--arrivals` for this.
pub fn arrivals_name(arrivals: CellArrivals) -> String {
    match arrivals {
        CellArrivals::Bernoulli => "bernoulli".to_owned(),
        CellArrivals::OnOff { burst } => format!("onoff:{burst}"),
        CellArrivals::Poisson => "poisson".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arbiters_and_speedups_are_read_or_refused_with_advice() {
        let islip = "islip:4".parse::<Arbiter>().expect("valid");
        assert_eq!(islip.config, ArbiterConfig::Islip { iterations: 4 });
        for text in ["islip:0", "lqf:2", "fastest", "pim:many"] {
            assert!(text.parse::<Arbiter>().is_err(), "{text}");
        }
        assert_eq!("3/2".parse::<Speedup>().map(|s| s.0.to_string()), Ok("3/2".to_owned()));
        assert!("1/2".parse::<Speedup>().is_err() && "0".parse::<Speedup>().is_err());
    }
}
