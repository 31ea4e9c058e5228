//! [`Target`]: the program that changes are carried out on.

use std::collections::BTreeSet;

use p4runtime::Refusal;
use p4runtime::translate::action::ActionCall;
use p4runtime::translate::change::Change;
use p4runtime::translate::table::EntryKey;
use pipeline::{EntryId, Pipeline};
use units::{PortId, Time};

use super::forwarding::Forwarding;
use super::values::{priority_of, refused};

/// The target of a change.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub forwarding: &'a mut Forwarding,
    pub pipeline: &'a mut Pipeline,
    pub now: Time,
    /// The ports that are down.
    pub down: &'a BTreeSet<PortId>,
}

/// A change of a table with masks looks through them; this many take as long as one step.
const MASKS_PER_STEP: usize = 32;

impl Target<'_> {
    /// How much work a change is, in entries of a table.
    pub fn steps(&self, change: &Change) -> usize {
        let table = change.table_id().and_then(|id| self.forwarding.binding.table(id).ok());
        let masks = table.map_or(0, |bound| self.pipeline.table(bound.table).mask_count());
        change.steps() + masks / MASKS_PER_STEP
    }

    /// Gives back the memory of removed objects, which will not be put back.
    pub fn settle_memory(&mut self) {
        self.pipeline.settle_memory(self.forwarding.ledger.size_bytes());
    }

    /// The number of an entry in the pipeline.
    pub fn find(&self, key: &EntryKey) -> Result<EntryId, Refusal> {
        let table = self.forwarding.binding.table(key.table_id)?.table;
        self.pipeline.table(table).find_entry(&key.parts, priority_of(key)).map_err(refused)
    }

    /// Adds or changes a member of an action profile.
    pub fn set_member(
        &mut self,
        profile_id: u32,
        member_id: u32,
        call: ActionCall,
        new: bool,
    ) -> Result<(), Refusal> {
        let profile = self.forwarding.binding.profile(profile_id)?;
        let table_id = self.forwarding.config.index.profile(profile_id)?.table_ids.first();
        let table_id = *table_id.ok_or_else(|| Refusal::invalid("it belongs to no table"))?;
        let action = self.forwarding.binding.table(table_id)?.action(call.action_id)?;
        self.pipeline.set_member(profile, member_id, action, call.args, new).map_err(refused)
    }
}
