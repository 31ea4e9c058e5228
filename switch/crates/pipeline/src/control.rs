//! Controls: nodes by name to steps by number. A node is a table, a condition or a call; each kind
//! loads itself, here they get their places.

use std::collections::BTreeMap;

use crate::action::{Action, Names, Step};
use crate::error::{LoadError, unknown};
use crate::expression::load::Scope;
use crate::hash::Hash;
use crate::profile::Chosen;
use crate::table::Applied;

/// What comes after the last node of a control: there is no step of this number.
pub(crate) const END: u32 = u32::MAX;

/// Controls being loaded.
pub(crate) struct Controls<'a> {
    pub source: &'a bmv2::Program,
    pub names: &'a Names<'a>,
    pub actions: &'a [Action],
    pub code: Vec<Step>,
    pub condition_names: Vec<String>,
    pub tables: Vec<Applied>,
    pub profiles: Vec<Chosen>,
    pub hashes: Vec<Hash>,
}

/// The nodes of one control by name.
pub(crate) struct NodeNames {
    numbers: BTreeMap<String, u32>,
}

impl NodeNames {
    pub fn next(&self, name: &Option<String>) -> Result<u32, LoadError> {
        let Some(name) = name else { return Ok(END) };
        let known = self.numbers.keys().map(String::as_str);
        self.numbers.get(name).copied().ok_or_else(|| unknown("node", name, known))
    }
}

impl Controls<'_> {
    /// Loads a control; returns its first node.
    pub fn control(&mut self, name: &str) -> Result<u32, LoadError> {
        let position = self.source.pipelines.iter().position(|control| control.name == name);
        let Some(position) = position else {
            let known = self.source.pipelines.iter().map(|control| control.name.as_str());
            return Err(unknown("control", name, known).under("/pipelines"));
        };
        let path = format!("/pipelines/{position}");
        let loaded = self.control_at(&self.source.pipelines[position]);
        loaded.map_err(|error| error.under(&path))
    }

    fn control_at(&mut self, control: &bmv2::Pipeline) -> Result<u32, LoadError> {
        let profiles_before = self.profiles.len();
        for (index, profile) in control.action_profiles.iter().enumerate() {
            let profile = self.profile(profile);
            self.profiles
                .push(profile.map_err(|error| error.under(&format!("/action_profiles/{index}")))?);
        }
        let names = self.number_nodes(control)?;
        for (index, table) in control.tables.iter().enumerate() {
            let loaded = self.table(table, &names, profiles_before);
            let loaded = loaded.map_err(|error| error.under(&format!("/tables/{index}")))?;
            self.code.push(Step::Apply { table: self.tables.len() as u32 });
            self.tables.push(loaded);
        }
        let scope =
            Scope { layout: self.names.layout, params: &[], registers: self.names.registers };
        for (index, conditional) in control.conditionals.iter().enumerate() {
            let path = format!("/conditionals/{index}");
            let under = |error: LoadError| error.under(&path);
            let condition = scope.condition(&conditional.expression);
            let if_true = names.next(&conditional.true_next).map_err(under)?;
            let if_false = names.next(&conditional.false_next).map_err(under)?;
            self.code.push(Step::If {
                condition: condition.map_err(|error| under(error.under("/expression")))?,
                next: [if_false, if_true],
                name: self.condition_names.len() as u32,
            });
            self.condition_names.push(conditional.name.clone());
        }
        for (index, call) in control.action_calls.iter().enumerate() {
            let path = format!("/action_calls/{index}");
            let under = |error: LoadError| error.under(&path);
            let action = self.action(call.action_id).map_err(under)?;
            let next = names.next(&call.next_node).map_err(under)?;
            if self.actions[action].limbs > 0 {
                return Err(under(LoadError::new("/action_id", "the action has parameters")));
            }
            self.code.push(Step::Call { action: action as u32, next });
        }
        names.next(&control.init_table).map_err(|error| error.under("/init_table"))
    }

    /// Gives tables, conditionals and calls their numbers, in the order they are loaded.
    fn number_nodes(&self, control: &bmv2::Pipeline) -> Result<NodeNames, LoadError> {
        let tables = control.tables.iter().map(|table| &table.name);
        let conditionals = control.conditionals.iter().map(|conditional| &conditional.name);
        let calls = control.action_calls.iter().map(|call| &call.name);
        let mut numbers = BTreeMap::new();
        for (offset, name) in tables.chain(conditionals).chain(calls).enumerate() {
            let number = (self.code.len() + offset) as u32;
            if numbers.insert(name.clone(), number).is_some() {
                return Err(LoadError::new("", format!("two nodes are called \"{name}\"")));
            }
        }
        Ok(NodeNames { numbers })
    }

    pub fn action(&self, id: u32) -> Result<usize, LoadError> {
        let position = self.source.actions.iter().position(|action| action.id == id);
        position.ok_or_else(|| LoadError::new("/action_id", format!("no action has the id {id}")))
    }
}
