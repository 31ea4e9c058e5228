//! Deciders from outside: classes of somebody's that decide in the place of parts of routers, and
//! for the connections of hosts. Who runs them is [`Deciders`]; nothing here starts anything.

use std::collections::BTreeMap;
use std::fmt;

use hosts::{Algorithm, CongestionOutside, Host};
use messages::vitrine::v1;
use p4runtime::{Code, Refusal};
use traffic::outside::{AqmOutside, ArbiterOutside, SchedulerOutside};
use traffic::{PortConfig, SchedulerConfig};
use units::{ClassId, PortId, Rate};
use v1::invite_request::Part;
use world::{NodeId, World};

use crate::network::Network;

/// Behind the name of a file comes that of a class.
const CLASS_BEHIND: &str = ".py:";

/// Runs classes, which are written `FILE.py:CLASS`. `Err` says in a sentence why one cannot begin.
pub trait Deciders: Send {
    /// An arbiter for so many inputs and outputs.
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

/// Whoever runs classes, if anybody does.
pub type Runner = Option<Box<dyn Deciders>>;

/// The deciders of one network.
#[derive(Default)]
pub struct Guests {
    seed: u64,
    /// By what they were asked for as.
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

    /// What one of them has done wrong, with its name.
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

/// A class takes the place of a part of a router.
pub fn invite(
    network: &mut Network,
    runner: &mut Runner,
    request: &v1::InviteRequest,
) -> Result<v1::InviteResponse, Refusal> {
    let v1::InviteRequest { device_id, decider, part, compared } = request;
    let place = network.routers.iter().position(|router| router.device_id == *device_id);
    let place =
        place.ok_or_else(|| Refusal::not_found(format!("there is no device {device_id}")))?;
    let (node, name) = (network.routers[place].node, network.topology.routers[place].name.clone());
    let seed = network.router_seed(*device_id);
    let runner = runner_of(runner).map_err(Refusal::precondition)?;
    let cannot = |why: String| Refusal::invalid(format!("{decider}: {why}"));
    let config = network.world.router(node).traffic().config();
    let taken = match part {
        Some(Part::Arbiter(_)) => {
            let input = config.input.as_ref().ok_or_else(|| {
                Refusal::precondition(format!(
                    "{name} has no crossbar: give it an input stage with Configure first"
                ))
            })?;
            let iterations = input.fabric.arbiter.iterations().unwrap_or(1);
            let arbiter = runner.arbiter(decider, config.ports.len(), iterations, seed);
            let arbiter = arbiter.map_err(cannot)?;
            let invite = |device: &mut device::Device| device.invite_arbiter(arbiter, *compared);
            network.world.with_router(node, |device, _| invite(device))
        }
        Some(Part::Scheduler(number)) => {
            let (port, config) = port_of(&name, &config.ports, *number)?;
            let waiting = network.world.router(node).traffic().port(port);
            if waiting.is_some_and(|port| port.depth.packets > 0) {
                return Err(Refusal::precondition(format!(
                    "packets wait at port {port} of {name}, and the class has not heard of them"
                )));
            }
            let rate = rate_of(&name, port, config)?;
            let scheduler = runner.scheduler(decider, &weights_of(config), rate);
            let scheduler = scheduler.map_err(cannot)?;
            network
                .world
                .with_router(node, |device, _| device.invite_scheduler(port, scheduler, *compared))
        }
        Some(Part::Aqm(queue)) => {
            let (port, config) = port_of(&name, &config.ports, queue.port)?;
            let class = u8::try_from(queue.class).unwrap_or(u8::MAX);
            if usize::from(class) >= config.queues.len() {
                return Err(Refusal::not_found(format!(
                    "port {port} of {name} has no class {}",
                    queue.class
                )));
            }
            let aqm = runner.aqm(decider, rate_of(&name, port, config)?, seed).map_err(cannot)?;
            let class = ClassId(class);
            network
                .world
                .with_router(node, |device, _| device.invite_aqm(port, class, aqm, *compared))
        }
        None => {
            return Err(Refusal::invalid(
                "the request does not say whose place: set arbiter, scheduler or aqm",
            ));
        }
    };
    debug_assert!(taken, "the part is there");
    let guests = &mut network.guests.routers;
    guests.entry(node).or_insert((name, Vec::new())).1.push(decider.clone());
    Ok(v1::InviteResponse { time_ps: network.world.now().ps() })
}

fn runner_of(runner: &mut Runner) -> Result<&mut Box<dyn Deciders>, String> {
    runner.as_mut().ok_or_else(|| {
        "classes decide only where `vitrine-sim serve` has --classes FOLDER".to_owned()
    })
}

fn port_of<'a>(
    router: &str,
    ports: &'a BTreeMap<PortId, PortConfig>,
    number: u32,
) -> Result<(PortId, &'a PortConfig), Refusal> {
    let port = u16::try_from(number).ok().map(PortId);
    let found = port.and_then(|port| ports.get_key_value(&port));
    let found = found.map(|(port, config)| (*port, config));
    found.ok_or_else(|| Refusal::not_found(format!("{router} has no port {number}")))
}

/// A port without a rate is never busy, and nobody has anything to decide there.
fn rate_of(router: &str, port: PortId, config: &PortConfig) -> Result<Rate, Refusal> {
    config.line_rate.ok_or_else(|| {
        Refusal::precondition(format!(
            "port {port} of {router} has no rate, so nothing ever waits there: give it one first"
        ))
    })
}

/// The weights of the classes, class 0 first, whatever groups they are in; of a hierarchy all 1.
fn weights_of(config: &PortConfig) -> Vec<u32> {
    let mut weights = vec![1; config.queues.len()];
    if let SchedulerConfig::Groups(groups) = &config.scheduler {
        for member in groups.iter().flat_map(|group| &group.members) {
            weights[member.class.index()] = member.weight;
        }
    }
    weights
}
