//! Outside deciders: a user's classes that decide in the place of parts of routers, and for the
//! connections of hosts. [`Deciders`] runs them; nothing here starts anything.

use std::collections::BTreeMap;
use std::fmt;

use hosts::{Algorithm, CongestionOutside, Host};
use p4runtime::{Code, Refusal};
use traffic::outside::{AqmOutside, ArbiterOutside, SchedulerOutside};
use units::Rate;
use world::{NodeId, World};

/// Behind the name of a file comes that of a class.
const CLASS_BEHIND: &str = ".py:";

/// Runs classes, which are written `FILE.py:CLASS`. `Err` says in a sentence why one cannot begin.
pub trait Deciders: Send {
    /// An arbiter for this many inputs and outputs.
    fn arbiter(
        &mut self,
        class: &str,
        ports: usize,
        iterations: u8,
        seed: u64,
    ) -> Result<Box<dyn ArbiterOutside>, String>;

    /// A scheduler for classes of these weights at a line of this rate.
    fn scheduler(
        &mut self,
        class: &str,
        weights: &[u32],
        rate: Rate,
    ) -> Result<Box<dyn SchedulerOutside>, String>;

    /// The AQM of one queue.
    fn aqm(&mut self, class: &str, rate: Rate, seed: u64) -> Result<Box<dyn AqmOutside>, String>;

    /// The congestion control of all connections that name it.
    fn congestion(&mut self, class: &str, seed: u64) -> Result<Box<dyn CongestionOutside>, String>;
}

/// The runner of classes, if there is one.
pub type Runner = Option<Box<dyn Deciders>>;

/// The deciders of one network.
#[derive(Default)]
pub struct Guests {
    seed: u64,
    /// By the names in the request.
    congestion: BTreeMap<String, Algorithm>,
    /// Routers that have some: name and classes.
    routers: BTreeMap<NodeId, (String, Vec<String>)>,
}

impl Guests {
    pub fn new(seed: u64) -> Guests {
        Guests { seed, ..Guests::default() }
    }

    /// The congestion control of that name: a built-in one, or a class.
    pub fn algorithm(&mut self, name: &str, runner: &mut Runner) -> Result<Algorithm, String> {
        let Some((file, rest)) = name.split_once(CLASS_BEHIND) else {
            return name.parse().map_err(|error: hosts::UnknownAlgorithm| error.to_string());
        };
        if let Some(known) = self.congestion.get(name) {
            return Ok(known.clone());
        }
        let (class, compared) = match rest.split_once(':') {
            None => (rest, None),
            Some((class, built_in)) => {
                let built_in = built_in.parse();
                (class, Some(built_in.map_err(|error: hosts::UnknownAlgorithm| error.to_string())?))
            }
        };
        let class = format!("{file}{CLASS_BEHIND}{class}");
        let decider = runner_of(runner)?.congestion(&class, self.seed)?;
        let algorithm = Algorithm::outside(name, decider, compared);
        self.congestion.insert(name.to_owned(), algorithm.clone());
        Ok(algorithm)
    }

    /// The fault of one of them, with its name.
    pub fn fault(&self, world: &World<Host>) -> Option<Refusal> {
        let hosts = self.congestion.iter();
        let mut hosts = hosts.filter_map(|(name, each)| Some(format!("{name}: {}", each.fault()?)));
        let routers = self.routers.iter();
        let mut routers = routers.filter_map(|(node, (name, classes))| {
            let fault = world.router(*node).fault()?;
            Some(format!("router {name}, {}: {fault}", classes.join(" or ")))
        });
        hosts.next().or_else(|| routers.next()).map(|words| Refusal::new(Code::Aborted, words))
    }

    /// A class decides for a part of a router.
    pub fn note_router(&mut self, node: NodeId, name: String, class: &str) {
        self.routers.entry(node).or_insert((name, Vec::new())).1.push(class.to_owned());
    }

    /// A router was switched off, and its guests have gone.
    pub fn forget_router(&mut self, node: NodeId) {
        self.routers.remove(&node);
    }
}

impl fmt::Debug for Guests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guests").field("routers", &self.routers).finish_non_exhaustive()
    }
}

/// The runner of classes; without one, an error that says so in a sentence.
pub fn runner_of(runner: &mut Runner) -> Result<&mut Box<dyn Deciders>, String> {
    runner.as_mut().ok_or_else(|| {
        "classes decide only where `vitrine-sim serve` has --classes FOLDER".to_owned()
    })
}
