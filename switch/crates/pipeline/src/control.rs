//! Controls: nodes by name to steps by number. A node is a table, a condition or a call; each kind
//! loads itself, here they get their places.

use bmv2::SourceInfo;

use crate::action::{Action, Names, Step, action_number};
use crate::error::{LoadError, unknown};
use crate::expression::load::Scope;
use crate::hash::Hash;
use crate::nodes::NodeNames;
use crate::profile::Chosen;
use crate::room::Room;
use crate::table::{Applied, TableLoader};

/// Controls being loaded.
pub(crate) struct Controls<'a> {
    pub source: &'a bmv2::Program,
    pub names: &'a Names<'a>,
    pub actions: &'a [Action],
    pub code: Vec<Step>,
    pub condition_names: Vec<String>,
    pub condition_sources: Vec<Option<SourceInfo>>,
    pub tables: Vec<Applied>,
    pub profiles: Vec<Chosen>,
    pub hashes: Vec<Hash>,
    /// The memory that is left for tables.
    pub room: Room,
}

impl<'a> Controls<'a> {
    /// No control yet; `code` is that of the actions.
    pub fn new(
        source: &'a bmv2::Program,
        names: &'a Names<'a>,
        actions: &'a [Action],
        code: Vec<Step>,
        hashes: Vec<Hash>,
    ) -> Controls<'a> {
        Controls {
            source,
            names,
            actions,
            code,
            condition_names: Vec::new(),
            condition_sources: Vec::new(),
            tables: Vec::new(),
            profiles: Vec::new(),
            hashes,
            room: Room::of_tables(),
        }
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
            let profile = Chosen::load(self.names.layout, profile, &mut self.hashes);
            self.profiles
                .push(profile.map_err(|error| error.under(&format!("/action_profiles/{index}")))?);
        }
        let names = NodeNames::new(control, self.code.len())?;
        for (index, table) in control.tables.iter().enumerate() {
            let mut loader = TableLoader {
                source: self.source,
                names: self.names,
                actions: self.actions,
                nodes: &names,
                profiles: &mut self.profiles[profiles_before..],
                profiles_before,
                room: &mut self.room,
            };
            let loaded = loader.load(table);
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
            self.condition_sources.push(conditional.source_info.clone());
        }
        for (index, call) in control.action_calls.iter().enumerate() {
            let path = format!("/action_calls/{index}");
            let under = |error: LoadError| error.under(&path);
            let action = action_number(self.source, call.action_id).map_err(under)?;
            let next = names.next(&call.next_node).map_err(under)?;
            if self.actions[action].limbs > 0 {
                return Err(under(LoadError::new("/action_id", "the action has parameters")));
            }
            self.code.push(Step::Call { action: action as u32, next });
        }
        names.next(&control.init_table).map_err(|error| error.under("/init_table"))
    }
}
