//! Multicast groups, as the replication engine of simple_switch has them: nodes with a replication id,
//! ports and link aggregation groups, each of which belongs to one group or none.
//!
//! The pipeline replicates by the nodes of each group; handles, and nodes of no group, are kept
//! with the program.

use std::collections::BTreeMap;

use agent::visit::Site;
use pipeline::Node;
use thrift::{Struct, Value};
use units::PortId;

use crate::codes::{Thrown, multicast};
use crate::found::pipeline;
use crate::job::{Outcome, Run};

/// With link aggregation groups (`simple_pre_lag`).
pub const FUNCTIONS: &[(&str, Run)] = &[
    ("bm_mc_node_create", Run::Once(|site, arguments| create_node(site, arguments, Some(4)))),
    ("bm_mc_node_update", Run::Once(|site, arguments| update_node(site, arguments, Some(4)))),
    ("bm_mc_set_lag_membership", Run::Once(set_lag)),
];

/// Without them (`simple_pre`).
pub const FUNCTIONS_WITHOUT_LAGS: &[(&str, Run)] = &[
    ("bm_mc_node_create", Run::Once(|site, arguments| create_node(site, arguments, None))),
    ("bm_mc_node_update", Run::Once(|site, arguments| update_node(site, arguments, None))),
];

/// The functions of both.
pub const FUNCTIONS_OF_BOTH: &[(&str, Run)] = &[
    ("bm_mc_mgrp_create", Run::Once(create_group)),
    ("bm_mc_mgrp_destroy", Run::Once(destroy_group)),
    ("bm_mc_node_associate", Run::Once(associate)),
    ("bm_mc_node_dissociate", Run::Once(dissociate)),
    ("bm_mc_node_destroy", Run::Once(destroy_node)),
    ("bm_mc_get_entries", Run::Once(entries)),
];

/// Groups are named by 16 bits.
const GROUP_MAX: u32 = u16::MAX as u32;

/// Link aggregation groups have numbers below this.
const LAG_COUNT_MAX: usize = 256;

/// So many nodes there may be: all together take some MiB.
const NODE_COUNT_MAX: usize = 4096;

/// The interface's knowledge that the pipeline lacks.
#[derive(Clone, Debug, Default)]
struct Kept {
    nodes: BTreeMap<u32, KeptNode>,
    /// As they were set, for reading.
    lags: BTreeMap<u16, Vec<PortId>>,
}

#[derive(Clone, Debug, Default)]
struct KeptNode {
    node: Node,
    group: Option<u32>,
}

fn kept<'a>(site: &'a mut Site<'_>) -> Result<&'a mut Kept, Thrown> {
    site.kept::<Kept>().ok_or(multicast::ERROR)
}

/// The numbers of the places that hold a 1, the last character being place 0.
fn places(map: &str, count_max: usize) -> Result<Vec<u16>, Thrown> {
    if map.len() > count_max || map.bytes().any(|digit| digit != b'0' && digit != b'1') {
        return Err(multicast::ERROR);
    }
    let ones = map.bytes().rev().zip(0..).filter(|(digit, _)| *digit == b'1');
    Ok(ones.map(|(_, place)| place).collect())
}

fn ports(map: &str) -> Result<Vec<PortId>, Thrown> {
    let count_max = usize::from(units::PORT_NUMBER_MAX) + 1;
    Ok(places(map, count_max)?.into_iter().map(PortId).collect())
}

/// The group in the argument of this number, if it exists.
fn group_of(site: &Site<'_>, arguments: &Struct, number: i16) -> Result<u32, Thrown> {
    let group = u32::try_from(arguments.i32(number)).map_err(|_| multicast::INVALID_GROUP)?;
    let exists = site.pipeline().is_some_and(|it| it.replication.group(group).is_some());
    if exists { Ok(group) } else { Err(multicast::INVALID_GROUP) }
}

/// The handle of a node in the argument of this number, if it exists.
fn node_of(site: &mut Site<'_>, arguments: &Struct, number: i16) -> Result<u32, Thrown> {
    let handle = u32::try_from(arguments.i32(number)).map_err(|_| multicast::INVALID_NODE)?;
    match kept(site)?.nodes.contains_key(&handle) {
        true => Ok(handle),
        false => Err(multicast::INVALID_NODE),
    }
}

/// Tells the pipeline the nodes of a group, as they are now.
fn put(site: &mut Site<'_>, group: u32) -> Result<(), Thrown> {
    let nodes = kept(site)?.nodes.values().filter(|kept| kept.group == Some(group));
    let nodes = nodes.map(|kept| kept.node.clone()).collect();
    site.set_multicast_group(group, Some(nodes)).map_err(|_no_room| multicast::ERROR)
}

/// A group that exists already is as good as a new one.
fn create_group(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let group = u32::try_from(arguments.i32(2)).ok().filter(|group| *group <= GROUP_MAX);
    let group = group.ok_or(multicast::INVALID_ID)?;
    if pipeline(site, multicast::ERROR)?.replication.group(group).is_none() {
        let made = site.set_multicast_group(group, Some(Vec::new()));
        made.map_err(|_no_room| multicast::ERROR)?;
    }
    Ok(Some(Value::I32(group.cast_signed())))
}

/// A group that does not exist is as good as destroyed.
fn destroy_group(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let Ok(group) = group_of(site, arguments, 2) else { return Ok(None) };
    for kept in kept(site)?.nodes.values_mut().filter(|kept| kept.group == Some(group)) {
        kept.group = None;
    }
    site.set_multicast_group(group, None).map_err(|_no_room| multicast::ERROR)?;
    Ok(None)
}

/// A node with the ports in the argument of this number, and the aggregation groups in the next.
fn node(arguments: &Struct, rid: u16, ports_at: i16, lags: Option<i16>) -> Result<Node, Thrown> {
    let lags = lags.map_or(Ok(Vec::new()), |at| places(arguments.text(at), LAG_COUNT_MAX))?;
    Ok(Node { rid, ports: ports(arguments.text(ports_at))?, lags })
}

fn create_node(site: &mut Site<'_>, arguments: &Struct, lags: Option<i16>) -> Outcome {
    let rid = u16::try_from(arguments.i32(2)).map_err(|_| multicast::ERROR)?;
    let node = node(arguments, rid, 3, lags)?;
    let nodes = &mut kept(site)?.nodes;
    if nodes.len() == NODE_COUNT_MAX {
        return Err(multicast::ERROR);
    }
    let free = (0..).zip(nodes.keys()).find(|(number, handle)| number != *handle);
    let handle = free.map_or(nodes.len() as u32, |(number, _)| number);
    nodes.insert(handle, KeptNode { node, group: None });
    Ok(Some(Value::I32(handle.cast_signed())))
}

fn update_node(site: &mut Site<'_>, arguments: &Struct, lags: Option<i16>) -> Outcome {
    let handle = node_of(site, arguments, 2)?;
    let found = kept(site)?.nodes.get_mut(&handle).ok_or(multicast::INVALID_NODE)?;
    found.node = node(arguments, found.node.rid, 3, lags)?;
    if let Some(group) = found.group {
        put(site, group)?;
    }
    Ok(None)
}

fn destroy_node(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let handle = node_of(site, arguments, 2)?;
    let gone = kept(site)?.nodes.remove(&handle);
    if let Some(group) = gone.and_then(|kept| kept.group) {
        put(site, group)?;
    }
    Ok(None)
}

/// A node is in one group at the most.
fn associate(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let handle = node_of(site, arguments, 3)?;
    let group = group_of(site, arguments, 2)?;
    let found = kept(site)?.nodes.get_mut(&handle).ok_or(multicast::INVALID_NODE)?;
    if found.group.is_some() {
        return Err(multicast::ERROR);
    }
    found.group = Some(group);
    put(site, group)?;
    Ok(None)
}

fn dissociate(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let handle = node_of(site, arguments, 3)?;
    let group = group_of(site, arguments, 2)?;
    let found = kept(site)?.nodes.get_mut(&handle).ok_or(multicast::INVALID_NODE)?;
    if found.group != Some(group) {
        return Err(multicast::ERROR);
    }
    found.group = None;
    put(site, group)?;
    Ok(None)
}

fn set_lag(site: &mut Site<'_>, arguments: &Struct) -> Outcome {
    let lag = u16::try_from(arguments.i16(2)).map_err(|_| multicast::ERROR)?;
    if usize::from(lag) >= LAG_COUNT_MAX {
        return Err(multicast::ERROR);
    }
    let ports = ports(arguments.text(3))?;
    kept(site)?.lags.insert(lag, ports.clone());
    pipeline(site, multicast::ERROR)?.replication.set_lag(lag, ports);
    Ok(None)
}

/// All groups, nodes and aggregation groups as JSON.
fn entries(site: &mut Site<'_>, _: &Struct) -> Outcome {
    let groups: Vec<u32> =
        pipeline(site, multicast::ERROR)?.replication.groups().map(|(group, _)| group).collect();
    let kept = kept(site)?;
    let handles = |group: u32| {
        let own = kept.nodes.iter().filter(|(_, kept)| kept.group == Some(group));
        array(own.map(|(handle, _)| handle.to_string()))
    };
    let groups = groups
        .into_iter()
        .map(|group| format!("{{\"id\":{group},\"l1_handles\":{}}}", handles(group)));
    let first = kept.nodes.iter().map(|(handle, kept)| {
        let rid = kept.node.rid;
        format!("{{\"handle\":{handle},\"l2_handle\":{handle},\"rid\":{rid}}}")
    });
    let second = kept.nodes.iter().map(|(handle, kept)| {
        let ports = array(kept.node.ports.iter().map(|port| port.0.to_string()));
        let lags = array(kept.node.lags.iter().map(u16::to_string));
        format!("{{\"handle\":{handle},\"lags\":{lags},\"ports\":{ports}}}")
    });
    let lags = kept.lags.iter().map(|(lag, ports)| {
        let ports = array(ports.iter().map(|port| port.0.to_string()));
        format!("{{\"id\":{lag},\"ports\":{ports}}}")
    });
    Ok(Some(Value::text(format!(
        "{{\"l1_handles\":{},\"l2_handles\":{},\"lags\":{},\"mgrps\":{}}}",
        array(first),
        array(second),
        array(lags),
        array(groups)
    ))))
}

fn array(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(","))
}
