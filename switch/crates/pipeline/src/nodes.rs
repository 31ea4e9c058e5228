//! The nodes of a control: what programs call by names, steps by numbers.

use std::collections::BTreeMap;

use crate::error::{LoadError, unknown};

/// The end of a control: there is no step of this number.
pub(crate) const END: u32 = u32::MAX;

/// The nodes of one control by name.
pub(crate) struct NodeNames {
    numbers: BTreeMap<String, u32>,
}

impl NodeNames {
    /// Gives tables, conditionals and calls their numbers from `first` on, in the order in which they
    /// are loaded.
    pub fn new(control: &bmv2::Pipeline, first: usize) -> Result<NodeNames, LoadError> {
        let tables = control.tables.iter().map(|table| &table.name);
        let conditionals = control.conditionals.iter().map(|conditional| &conditional.name);
        let calls = control.action_calls.iter().map(|call| &call.name);
        let mut numbers = BTreeMap::new();
        for (offset, name) in tables.chain(conditionals).chain(calls).enumerate() {
            if numbers.insert(name.clone(), (first + offset) as u32).is_some() {
                return Err(LoadError::new("", format!("two nodes are called \"{name}\"")));
            }
        }
        Ok(NodeNames { numbers })
    }

    pub fn next(&self, name: &Option<String>) -> Result<u32, LoadError> {
        let Some(name) = name else { return Ok(END) };
        let known = self.numbers.keys().map(String::as_str);
        self.numbers.get(name).copied().ok_or_else(|| unknown("node", name, known))
    }
}
