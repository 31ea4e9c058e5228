//! A class takes the place of a part of a router.

use std::collections::BTreeMap;

use messages::vitrine::v1;
use p4runtime::Refusal;
use traffic::{PortConfig, SchedulerConfig};
use units::{ClassId, PortId, Rate};
use v1::invite_request::Part;

use crate::guests::{Runner, runner_of};
use crate::network::Network;

/// Lets the class decide from now on.
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
    network.guests.note_router(node, name, decider);
    Ok(v1::InviteResponse { time_ps: network.world.now().ps() })
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

/// A port without a rate is never busy, so there is nothing to decide.
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
