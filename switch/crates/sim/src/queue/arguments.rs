//! The arguments of `vitrine-sim queue`, and the experiment they describe.

use clap::{Args, ValueEnum};
use traffic::{Discipline, Limit, PortConfig, SchedulerConfig};
use units::{Bytes, ClassId, Rate, Span};
use world::one_port::{Experiment, Source};
use world::{Arrivals, Lengths};

/// One output port under traffic: waits, losses and shares, class by class.
///
/// Lists have one value for each class, class 0 (the lowest) first; one value alone is for all.
#[derive(Args)]
pub struct Arguments {
    /// The line's rate, with its unit.
    #[arg(long, default_value = "10 Mb/s")]
    rate: Rate,
    /// Offered load of each class, as a share of the line; decides how many classes there are.
    #[arg(long, value_delimiter = ',', default_value = "0.8")]
    loads: Vec<f64>,
    /// Who goes first.
    #[arg(long, value_enum, default_value = "strict")]
    scheduler: Scheduler,
    /// Weights of the classes for drr, wrr and wfq.
    #[arg(long, value_delimiter = ',', default_value = "1")]
    weights: Vec<u32>,
    /// Arrivals of each class: `poisson`, `constant`, or `onoff:N` for bursts of N packets.
    #[arg(long, value_delimiter = ',', default_value = "poisson")]
    arrivals: Vec<String>,
    /// Packet lengths of each class: bytes, `exp:BYTES` (exponential) or `imix`.
    #[arg(long, value_delimiter = ',', default_value = "1000")]
    lengths: Vec<String>,
    /// Limit of each queue: packets such as `64`, bytes such as `100000B`, or `none`.
    #[arg(long, value_delimiter = ',', default_value = "none")]
    limits: Vec<String>,
    /// Seconds to observe.
    #[arg(long, default_value_t = 100)]
    seconds: u64,
    /// Seconds before that, so that the start does not count.
    #[arg(long, default_value_t = 1)]
    warm_up: u64,
    /// Seed of all dice.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Scheduler {
    Drr,
    Strict,
    Wfq,
    Wrr,
}

/// The quantum of DRR for weight 1: the longest frame on standard Ethernet.
const QUANTUM: Bytes = Bytes(1514);

impl Arguments {
    /// The scheduler's name as it was given.
    pub fn scheduler_name(&self) -> &'static str {
        match self.scheduler {
            Scheduler::Drr => "drr",
            Scheduler::Strict => "strict",
            Scheduler::Wfq => "wfq",
            Scheduler::Wrr => "wrr",
        }
    }

    /// The experiment that the arguments describe.
    pub fn experiment(&self) -> Result<Experiment, String> {
        let class_count = self.loads.len();
        let mut port = PortConfig::strict(Some(self.rate), class_count);
        let weights: Vec<u32> = (0..class_count)
            .map(|class| of_class("weights", &self.weights, class))
            .collect::<Result<_, _>>()?;
        port.scheduler = match self.scheduler {
            Scheduler::Drr => {
                SchedulerConfig::shared(Discipline::Drr { quantum: QUANTUM }, &weights)
            }
            Scheduler::Strict => SchedulerConfig::strict(class_count),
            Scheduler::Wfq => SchedulerConfig::shared(Discipline::Wfq, &weights),
            Scheduler::Wrr => SchedulerConfig::shared(Discipline::Wrr, &weights),
        };
        let mut sources = Vec::new();
        for (class, load) in self.loads.iter().copied().enumerate() {
            port.queues[class].limit = limit(&of_class("limits", &self.limits, class)?)?;
            let lengths = lengths(&of_class("lengths", &self.lengths, class)?)?;
            let bits = lengths.mean() * 8.0;
            let arrivals = of_class("arrivals", &self.arrivals, class)?;
            let arrivals = self.arrivals_at(&arrivals, load, bits)?;
            sources.push(Source { class: ClassId(class as u8), arrivals, lengths });
        }
        Ok(Experiment {
            port,
            sources,
            warm_up: Span::from_secs(self.warm_up),
            duration: Span::from_secs(self.seconds),
            seed: self.seed,
            sample_every: None,
        })
    }

    /// An arrival process whose packets of `bits` on average make `load` of the line.
    fn arrivals_at(&self, text: &str, load: f64, bits: f64) -> Result<Arrivals, String> {
        if !(load > 0.0 && load.is_finite()) {
            return Err(format!("--loads: {load} is not a load; give a share such as 0.8"));
        }
        let seconds = bits / (self.rate.bps() as f64);
        let gap = span(seconds / load);
        match text.split_once(':') {
            None if text == "poisson" => Ok(Arrivals::Poisson { gap }),
            None if text == "constant" => Ok(Arrivals::Constant { gap }),
            Some(("onoff", burst)) => {
                let burst: u32 =
                    burst.parse().ok().filter(|burst| *burst > 0).ok_or_else(|| {
                        format!("--arrivals: `{text}`: a burst is a positive number of packets")
                    })?;
                // A burst comes at the line's speed; the pause makes up for what that is too fast.
                let on = seconds * f64::from(burst - 1);
                let pause = (seconds / load * f64::from(burst) - on).max(0.0);
                Ok(Arrivals::OnOff { gap: span(seconds), burst, pause: span(pause) })
            }
            _ => Err(format!(
                "--arrivals: `{text}` is unknown; use poisson, constant or onoff:PACKETS"
            )),
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

fn span(seconds: f64) -> Span {
    Span::from_ps((seconds * 1e12).round() as u64)
}

fn lengths(text: &str) -> Result<Lengths, String> {
    let wrong = || format!("--lengths: `{text}` is unknown; use bytes, exp:BYTES or imix");
    let bytes = |text: &str| text.parse().ok().filter(|n| *n > 0).map(Bytes).ok_or_else(wrong);
    match text.split_once(':') {
        None if text == "imix" => Ok(Lengths::imix()),
        None => Ok(Lengths::Fixed(bytes(text)?)),
        Some(("exp", mean)) => Ok(Lengths::Exponential(bytes(mean)?)),
        Some(_) => Err(wrong()),
    }
}

fn limit(text: &str) -> Result<Limit, String> {
    let wrong = || format!("--limits: `{text}` is unknown; use packets, bytes with a B, or none");
    match text.strip_suffix('B') {
        _ if text == "none" => Ok(Limit::NONE),
        Some(bytes) => Ok(Limit::bytes(Bytes(bytes.parse().map_err(|_| wrong())?))),
        None => Ok(Limit::packets(text.parse().map_err(|_| wrong())?)),
    }
}
