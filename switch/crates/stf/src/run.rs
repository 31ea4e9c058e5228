//! Statements applied to a pipeline, and the packets that came out compared with those expected.

use std::collections::{BTreeMap, VecDeque};

use bits::Int;
use bmv2::MatchType;
use pipeline::{
    CloneSession, Counter, Entry, EntryAction, KeyMatch, MeterConfig, MeterRate, Node, Pipeline,
};
use units::{PortId, Span};

use crate::report::Mismatch;
use crate::script::{Call, CounterCheck, EntryCall, KeyValue, Statement};
use crate::switch::{Sent, Switch};

/// A switch under test.
pub struct Test {
    switch: Switch,
    /// Nodes by handle: their order of creation.
    nodes: Vec<Node>,
    /// Handles of the nodes of each group.
    groups: BTreeMap<u32, Vec<usize>>,
    /// The packets that came out, by port, in order.
    seen: BTreeMap<u16, VecDeque<Sent>>,
    /// The expected packets, each with the line that expects it.
    expected: BTreeMap<u16, VecDeque<(usize, Option<String>)>>,
    /// Ports the script mentions; packets to others do not count, as there is no such interface.
    ports: std::collections::BTreeSet<u16>,
    no_packet: bool,
}

impl Test {
    /// A test of a freshly loaded pipeline.
    pub fn new(pipeline: Pipeline) -> Test {
        Test {
            switch: Switch::new(pipeline),
            nodes: Vec::new(),
            groups: BTreeMap::new(),
            seen: BTreeMap::new(),
            expected: BTreeMap::new(),
            ports: Default::default(),
            no_packet: false,
        }
    }

    /// Applies a statement.
    pub fn apply(&mut self, line: usize, statement: &Statement) -> Result<(), String> {
        match statement {
            Statement::Add { table, priority, key, call } => {
                let table = self.table(table)?;
                let action = match call {
                    EntryCall::Action(call) => self.action(table, call)?,
                    EntryCall::Group(id) => EntryAction::Group(*id),
                    EntryCall::Member(id) => EntryAction::Member(*id),
                };
                let key = self.key(table, key)?;
                let is_ternary = self
                    .switch
                    .pipeline()
                    .table(table)
                    .keys()
                    .any(|(_, kind, _)| matches!(kind, MatchType::Ternary | MatchType::Range));
                let priority = if is_ternary { priority.unwrap_or(0) } else { 0 };
                let entry = Entry { key, priority, action, idle_timeout: None };
                let now = self.switch.now();
                let inserted = self.switch.pipeline_mut().insert_entry(table, entry, now);
                inserted.map(drop).map_err(|error| error.to_string())
            }
            Statement::SetDefault { table, call } => {
                let table = self.table(table)?;
                let action = self.action(table, call)?;
                self.switch
                    .pipeline_mut()
                    .set_default_entry(table, Some(action))
                    .map_err(|error| error.to_string())
            }
            Statement::ProfileGroup { .. } | Statement::ProfileMember { .. } => {
                self.write_profile(statement)
            }
            Statement::Packet { port, bytes } => {
                self.ports.insert(*port);
                self.packet(*port, bytes);
                Ok(())
            }
            Statement::Expect { port, packet } => {
                self.ports.insert(*port);
                self.expected.entry(*port).or_default().push_back((line, packet.clone()));
                Ok(())
            }
            Statement::NoPacket => {
                self.no_packet = true;
                Ok(())
            }
            Statement::Wait => {
                self.switch.wait(Span::from_secs(1));
                Ok(())
            }
            Statement::RemoveAll => self.remove_all(),
            Statement::Read => Ok(()),
            Statement::CheckCounter { name, index, check } => {
                self.check_counter(name, *index, check.as_ref())
            }
            Statement::CheckRegister { name, index, value } => {
                self.check_register(name, *index, value)
            }
            Statement::CounterWrite { .. }
            | Statement::MeterSetRates { .. }
            | Statement::RegisterReset { .. }
            | Statement::RegisterWrite { .. } => self.write(statement),
            _ => self.replicate(statement),
        }
    }

    /// Compares the packets that came out with the expected ones, port by port.
    pub fn mismatches(&self) -> Vec<Mismatch> {
        let mut mismatches = Vec::new();
        for port in &self.ports {
            let none = VecDeque::new();
            let expected = self.expected.get(port).unwrap_or(&none.clone()).clone();
            let seen = self.seen.get(port).cloned().unwrap_or_default();
            for index in 0..expected.len().max(seen.len()) {
                let mismatch = match (expected.get(index), seen.get(index)) {
                    (Some((line, Some(packet))), Some(seen)) => {
                        let field = |bit| self.field_at(&seen.headers, bit);
                        Mismatch::compare(*port, *line, packet, &seen.frame, field)
                    }
                    (Some((line, packet)), None) => {
                        Some(Mismatch::missing(*port, *line, packet.as_deref()))
                    }
                    (None, Some(seen)) => Some(Mismatch::unexpected(*port, &seen.frame)),
                    _ => None,
                };
                mismatches.extend(mismatch);
            }
        }
        if self.no_packet {
            let seen = self
                .seen
                .iter()
                .flat_map(|(port, packets)| packets.iter().map(move |packet| (*port, packet)));
            mismatches.extend(seen.map(|(port, sent)| Mismatch::unexpected(port, &sent.frame)));
        }
        mismatches
    }

    /// The switch under test.
    pub fn switch(&mut self) -> &mut Switch {
        &mut self.switch
    }

    fn packet(&mut self, port: u16, bytes: &[u8]) {
        for sent in self.switch.send_told(PortId(port), bytes) {
            self.seen.entry(sent.port.0).or_default().push_back(sent);
        }
    }

    /// The place of a bit in a frame that starts with these headers: a field, or the payload. The
    /// length of a field of variable length does not show in the frame, so such a field stands for
    /// all that follows.
    fn field_at(&self, headers: &[String], bit: usize) -> String {
        let mut end = 0;
        for header in headers {
            for (field, width) in self.switch.pipeline().header_fields(header) {
                let Some(width) = width else { return format!("{header}.{field} or behind it") };
                end += width as usize;
                if bit < end {
                    return format!("{header}.{field}");
                }
            }
        }
        "the payload".to_owned()
    }

    /// The table of a name, or the only one whose name ends with it.
    fn table(&self, name: &str) -> Result<usize, String> {
        let names = self.switch.pipeline().tables().map(|table| table.name());
        find("table", name, names)
    }

    /// Members and groups of action profiles.
    fn write_profile(&mut self, statement: &Statement) -> Result<(), String> {
        let written = match statement {
            Statement::ProfileGroup { profile, group, members } => {
                let profile = self.profile(profile)?;
                self.switch.pipeline_mut().set_group(profile, *group, members, true)
            }
            Statement::ProfileMember { profile, member, call } => {
                let profile = self.profile(profile)?;
                let actions = self.switch.pipeline().profile(profile).actions().to_vec();
                let (action, data) = self.action_of(&actions, call)?;
                self.switch.pipeline_mut().set_member(profile, *member, action, data, true)
            }
            _ => Ok(()),
        };
        written.map_err(|error| error.to_string())
    }

    /// The action profile of a name, or the only one whose name ends with it.
    fn profile(&self, name: &str) -> Result<usize, String> {
        let names = self.switch.pipeline().profiles().map(|profile| profile.name());
        find("action profile", name, names)
    }

    fn action(&self, table: usize, call: &Call) -> Result<EntryAction, String> {
        let actions: Vec<usize> = self.switch.pipeline().table(table).action_indexes().collect();
        let (action, data) = self.action_of(&actions, call)?;
        Ok(EntryAction::Action { action, data })
    }

    /// The action that a call means, one of these, and its data.
    fn action_of(&self, actions: &[usize], call: &Call) -> Result<(usize, Vec<Int>), String> {
        let names = actions.iter().map(|action| self.switch.pipeline().action(*action).name);
        let action = actions[find("action", &call.action, names)?];
        let info = self.switch.pipeline().action(action);
        if !call.arguments.is_empty() && call.arguments.iter().all(|(name, _)| name.is_empty()) {
            let (given, wanted) = (call.arguments.len(), info.params.len());
            if given != wanted {
                return Err(format!("action {} takes {wanted} arguments, not {given}", info.name));
            }
            return Ok((action, call.arguments.iter().map(|(_, value)| value.clone()).collect()));
        }
        for (name, _) in &call.arguments {
            if !info.params.iter().any(|(param, _)| param == name) {
                return Err(format!("action {} has no parameter {name}", info.name));
            }
        }
        let value = |(param, _): &(String, u32)| {
            let argument = call.arguments.iter().find(|(name, _)| name == param);
            let argument = argument.map(|(_, value)| value.clone());
            argument.ok_or_else(|| format!("action {}: parameter {param} has no value", info.name))
        };
        let data = info.params.iter().map(value).collect::<Result<Vec<Int>, String>>()?;
        Ok((action, data))
    }

    /// Keys in the order of the table; those not mentioned match 0, or anything.
    fn key(&self, table: usize, written: &[(String, KeyValue)]) -> Result<Vec<KeyMatch>, String> {
        let table = self.switch.pipeline().table(table);
        let names: Vec<&str> = table.keys().map(|(name, ..)| name).collect();
        let mut values = vec![None; names.len()];
        for (name, value) in written {
            values[key_position(&names, name)?] = Some(value);
        }
        let matched = table.keys().zip(values).map(|((name, kind, width), value)| match value {
            Some(value) => {
                key_match(kind, width, value).map_err(|error| format!("key {name}: {error}"))
            }
            None => Ok(match kind {
                MatchType::Exact | MatchType::Valid => KeyMatch::Exact(Int::zero()),
                _ => KeyMatch::Any,
            }),
        });
        matched.collect()
    }

    fn remove_all(&mut self) -> Result<(), String> {
        let count = self.switch.pipeline().tables().len();
        for table in 0..count {
            let ids: Vec<_> =
                self.switch.pipeline().table(table).entries().map(|(id, _)| id).collect();
            for id in ids {
                // Const entries stay.
                let _ = self.switch.pipeline_mut().delete_entry(table, id);
            }
        }
        Ok(())
    }

    /// The counter array or table of a name: its counter at an index or handle.
    fn counter(&self, name: &str, index: u64) -> Result<Counter, String> {
        if let Some(array) = self.switch.pipeline().counter_index(name) {
            let counter = self.switch.pipeline().counters(array).get(index as usize).copied();
            return counter.ok_or_else(|| format!("counter {name} has no index {index}"));
        }
        let table = self.table(name).map_err(|_| format!("there is no counter {name}"))?;
        let id = pipeline::EntryId(index as u32);
        let counter =
            self.switch.pipeline().table(table).counter(id).map_err(|error| error.to_string())?;
        counter.ok_or_else(|| format!("table {name} has no counters"))
    }

    fn check_counter(
        &self,
        name: &str,
        index: u64,
        check: Option<&CounterCheck>,
    ) -> Result<(), String> {
        let counter = self.counter(name, index)?;
        let Some(check) = check else { return Ok(()) };
        let found = if check.bytes { counter.bytes } else { counter.packets };
        let holds = match check.operator.as_str() {
            "==" => found == check.number,
            "!=" => found != check.number,
            "<" => found < check.number,
            "<=" => found <= check.number,
            ">" => found > check.number,
            ">=" => found >= check.number,
            other => return Err(format!("`{other}` compares nothing; use == != < <= > >=")),
        };
        let unit = if check.bytes { "bytes" } else { "packets" };
        match holds {
            true => Ok(()),
            false => Err(format!(
                "counter {name}({index}) is {found} {unit}, expected {} {}",
                check.operator, check.number
            )),
        }
    }

    fn check_register(&self, name: &str, index: u64, value: &Int) -> Result<(), String> {
        let pipeline = self.switch.pipeline();
        let array =
            pipeline.register_index(name).ok_or_else(|| format!("there is no register {name}"))?;
        let found = pipeline
            .registers(array)
            .read(index)
            .ok_or_else(|| format!("register {name} has no index {index}"))?;
        match found == *value {
            true => Ok(()),
            false => Err(format!("register {name}({index}) is {found}, expected {value}")),
        }
    }

    /// Counters, registers and meters.
    fn write(&mut self, statement: &Statement) -> Result<(), String> {
        let no = |what: &str, name: &str| format!("there is no {what} {name}");
        match statement {
            Statement::CounterWrite { name, index, packets, bytes } => {
                let array = self
                    .switch
                    .pipeline()
                    .counter_index(name)
                    .ok_or_else(|| no("counter", name))?;
                let counter =
                    self.switch.pipeline_mut().counters_mut(array).get_mut(*index as usize);
                *counter.ok_or_else(|| no("index", name))? =
                    Counter { packets: *packets, bytes: *bytes };
            }
            Statement::RegisterWrite { name, index, value } => {
                let array = self
                    .switch
                    .pipeline()
                    .register_index(name)
                    .ok_or_else(|| no("register", name))?;
                if !self.switch.pipeline_mut().registers_mut(array).write(*index, value) {
                    return Err(format!("register {name} has no index {index}"));
                }
            }
            Statement::RegisterReset { name } => {
                let array = self
                    .switch
                    .pipeline()
                    .register_index(name)
                    .ok_or_else(|| no("register", name))?;
                let registers = self.switch.pipeline_mut().registers_mut(array);
                for index in 0..registers.size() as u64 {
                    let _ = registers.write(index, &Int::zero());
                }
            }
            Statement::MeterSetRates { name, index, rates } => {
                let array =
                    self.switch.pipeline().meter_index(name).ok_or_else(|| no("meter", name))?;
                let [committed, peak] = rates.as_slice() else {
                    return Err("a meter has two rates".to_owned());
                };
                // Written in units a microsecond.
                let rate =
                    |per_us: f64| MeterRate::from_millionths((per_us * 1e12).round() as u128);
                let config = MeterConfig {
                    committed_rate: rate(committed.0),
                    committed_burst: committed.1,
                    peak_rate: rate(peak.0),
                    peak_burst: peak.1,
                    excess_burst: None,
                };
                let now = self.switch.now();
                let meters = &mut self.switch.pipeline_mut().meters_mut(array).meters;
                let chosen = match index {
                    Some(index) => meters.get_mut(*index as usize..=*index as usize),
                    None => meters.get_mut(..),
                };
                let chosen = chosen.ok_or_else(|| no("index", name))?;
                chosen.iter_mut().for_each(|meter| meter.configure(Some(config), now));
            }
            _ => {}
        }
        Ok(())
    }

    /// Clone sessions and multicast groups.
    fn replicate(&mut self, statement: &Statement) -> Result<(), String> {
        match statement {
            Statement::MirrorPort { session, port } => {
                let config = CloneSession { port: Some(PortId(*port)), ..CloneSession::default() };
                self.switch.pipeline_mut().replication.set_session(*session, Some(config));
            }
            Statement::MirrorGroup { session, group } => {
                let config = CloneSession { group: Some(*group), ..CloneSession::default() };
                self.switch.pipeline_mut().replication.set_session(*session, Some(config));
            }
            Statement::MirrorDelete { session } => {
                self.switch.pipeline_mut().replication.set_session(*session, None);
            }
            Statement::GroupCreate { group } => {
                self.groups.insert(*group, Vec::new());
            }
            Statement::NodeCreate { rid, ports } => {
                self.nodes.push(Node { rid: *rid, ports: port_ids(ports), lags: Vec::new() });
            }
            Statement::NodeUpdate { node, ports } => {
                let found =
                    self.nodes.get_mut(*node).ok_or_else(|| format!("there is no node {node}"))?;
                found.ports = port_ids(ports);
            }
            Statement::GroupAssociate { group, node } => {
                if *node >= self.nodes.len() {
                    return Err(format!("there is no node {node}; mc_node_create makes one"));
                }
                let members = self.groups.get_mut(group);
                members
                    .ok_or_else(|| format!("there is no group {group}; mc_mgrp_create makes one"))?
                    .push(*node);
            }
            _ => {}
        }
        for (group, handles) in &self.groups {
            let nodes = handles.iter().map(|handle| self.nodes[*handle].clone()).collect();
            self.switch.pipeline_mut().replication.set_group(*group, Some(nodes));
        }
        Ok(())
    }
}

fn port_ids(ports: &[u16]) -> Vec<PortId> {
    ports.iter().copied().map(PortId).collect()
}

/// The position of a name, or of the only name that ends with it.
fn find<'a>(
    what: &str,
    name: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, String> {
    if let Some(position) = names.clone().position(|candidate| candidate == name) {
        return Ok(position);
    }
    let mut ending = names.clone().enumerate().filter(|(_, candidate)| candidate.ends_with(name));
    match (ending.next(), ending.next()) {
        (Some((position, _)), None) => Ok(position),
        (Some((_, first)), Some((_, second))) => {
            Err(format!("{what} {name} could be {first} or {second}; write more of the name"))
        }
        _ => {
            let known: Vec<&str> = names.collect();
            Err(if known.is_empty() {
                format!("there is no {what} {name}: the program uses none, whatever it declares")
            } else {
                format!("there is no {what} {name}; there are {}", known.join(", "))
            })
        }
    }
}

/// The key a script means: its name, its name with the compiler's `$`, or the end of its name.
fn key_position(names: &[&str], name: &str) -> Result<usize, String> {
    let spelled = name.strip_suffix(".valid").map(|header| format!("{header}.$valid$"));
    let exact = |candidate: &&str| {
        *candidate == name
            || *candidate == format!("{name}$")
            || *candidate == format!("{name}.$valid$")
            || Some(*candidate) == spelled.as_deref()
    };
    let ending = |candidate: &&str| {
        candidate.ends_with(&format!(".{name}"))
            || candidate.ends_with(&format!(".{name}$"))
            || (name == "valid" && candidate.ends_with("$valid$"))
    };
    let position = names.iter().position(exact).or_else(|| names.iter().position(ending));
    position.ok_or_else(|| format!("there is no key {name}; there are {}", names.join(", ")))
}

fn key_match(kind: MatchType, width: u32, written: &KeyValue) -> Result<KeyMatch, String> {
    let value = written.value.clone();
    Ok(match kind {
        MatchType::Exact | MatchType::Valid if written.has_wildcard => {
            return Err("it is matched exactly; `*` has no meaning".to_owned());
        }
        MatchType::Exact | MatchType::Valid => KeyMatch::Exact(value),
        MatchType::Lpm => {
            // Without a length, the digits written count.
            let length_bits = written.prefix_length.unwrap_or(written.fixed_bits).min(width);
            KeyMatch::Lpm { value, length_bits }
        }
        MatchType::Range => {
            let high = written.range_end.clone().unwrap_or_else(|| value.clone());
            KeyMatch::Range { low: value, high }
        }
        MatchType::Ternary => {
            // Whole digits may reach beyond the field.
            let mask = written.mask.truncate(width as usize);
            KeyMatch::Ternary { value, mask }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_whole_or_by_its_end_and_otherwise_it_is_said_what_there_is() {
        let said = |names: &[&str], name| find("table", name, names.iter().copied());
        let tables = ["ingress.routes", "ingress.acl", "egress.acl"];
        assert_eq!(said(&tables, "routes"), Ok(0));
        assert_eq!(said(&tables, "egress.acl"), Ok(2));
        let message = |names, name| said(names, name).unwrap_err();
        assert_eq!(
            message(&tables, "acl"),
            "table acl could be ingress.acl or egress.acl; write more of the name"
        );
        assert_eq!(
            message(&tables[..2], "rules"),
            "there is no table rules; there are ingress.routes, ingress.acl"
        );
        // A table that is declared and never applied does not reach the switch.
        assert_eq!(
            message(&[], "routes"),
            "there is no table routes: the program uses none, whatever it declares"
        );
    }
}
