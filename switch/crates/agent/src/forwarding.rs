//! A program in use, as the control plane sees it: its configuration, how P4Info's ids map to the
//! pipeline, and what controllers wrote that the pipeline itself has no place for.

use std::collections::BTreeMap;
use std::sync::Arc;

use p4runtime::Code;
use p4runtime::binding::Binding;
use p4runtime::config::Config;
use p4runtime::digest::{Digests, List, Message};
use p4runtime::refusal::Refusal;
use p4runtime::translate::action::OneShotAction;
use p4runtime::translate::profile::GroupState;
use p4runtime::translate::replication::{CloneSession, MulticastGroup};
use p4runtime::translate::table::Attachment;
use pipeline::{EntryId, Pipeline};
use units::Time;

use super::keeps::Keeps;
use super::kept::Kept;
use super::learning::Learning;
use super::measured::{Measured, Size, listed_bytes};

/// A program that has been read and linked, ready to be put in force.
#[derive(Clone, Debug)]
pub struct Load {
    config: Arc<Config>,
    binding: Binding,
    pipeline: Box<Pipeline>,
    /// The state to take over.
    keeps: Keeps,
}

/// A program in use, beside its pipeline.
#[derive(Debug)]
pub(super) struct Forwarding {
    pub config: Arc<Config>,
    pub binding: Binding,
    pub ledger: Ledger,
    /// Digests for clients without P4Runtime.
    pub learning: Learning,
}

/// The controllers' data that they get back unchanged, and that the pipeline holds in another form.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Beside entries, by the table's and the entry's number in the pipeline; absent where there
    /// is nothing.
    pub beside: Measured<(usize, EntryId), Beside>,
    /// How many entries bring a group of their own, by the id of the action selector.
    one_shot_counts: BTreeMap<u32, usize>,
    /// How many entries have an idle timeout.
    timeout_count: usize,
    /// Beside default entries, by the table's number.
    pub beside_default: Measured<usize, Attachment>,
    /// Groups as they were written, by the ids of profile and group.
    pub groups: Measured<(u32, u32), GroupState>,
    /// Multicast groups as they were written.
    pub multicast: Measured<u32, MulticastGroup>,
    /// Clone sessions as they were written.
    pub sessions: Measured<u32, CloneSession>,
    /// Digests that are switched on.
    pub digests: Digests,
    /// The data that a visitor keeps.
    pub kept: Kept,
}

/// The data of one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Beside {
    pub attachment: Attachment,
    /// As it was written: the pipeline's own ends at 213 days.
    pub idle_timeout_ns: u64,
    /// The group that this entry alone uses, if it was written with an action set.
    pub one_shot: Option<OneShot>,
}

/// The memory of a choice: an action with its data, here and as a member.
const CHOICE_BYTES: u64 = 384;

impl Size for Beside {
    fn size_bytes(&self) -> u64 {
        let choices = self.one_shot.iter().flat_map(|group| &group.choices);
        let choices = choices.map(|choice| CHOICE_BYTES + listed_bytes(choice.weight));
        self.attachment.size_bytes() + choices.sum::<u64>()
    }
}

/// A one-shot group: what was written, and its group in the pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OneShot {
    /// P4Info's id of the action selector.
    pub profile_id: u32,
    /// The group's id. Its members have ids of their own.
    pub group_id: u32,
    /// The members' ids, one per choice.
    pub member_ids: Vec<u32>,
    /// As they were written.
    pub choices: Vec<OneShotAction>,
}

impl Load {
    /// Reads and links a program. Takes as long as it takes: not for the data-plane thread.
    pub fn new(config: Arc<Config>, settings: &pipeline::Config) -> Result<Self, Refusal> {
        Self::new_while(config, settings, &|| true)
    }

    /// The same, but stops soon after the program is no longer wanted.
    pub fn new_while(
        mut config: Arc<Config>,
        settings: &pipeline::Config,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Self, Refusal> {
        let loaded = Pipeline::load_while(&config.json()?, settings, is_wanted);
        let mut pipeline = loaded.map_err(|error| {
            let code =
                if error.is_of_memory { Code::ResourceExhausted } else { Code::InvalidArgument };
            Refusal::new(code, format!("config.p4_device_config: {error}"))
        })?;
        pipeline.memory_mut().grow_program(config.size_bytes())?;
        // A configuration that others hold has been loaded before.
        if let Some(config) = Arc::get_mut(&mut config) {
            config.index.fit(&pipeline)?;
            config.index.bound_names(settings.memory);
        }
        let binding = Binding::new(&config.index, &pipeline)?;
        Ok(Self { config, binding, pipeline: Box::new(pipeline), keeps: Keeps::Nothing })
    }

    /// The same, to take over this much from the program that packets run through by then.
    #[must_use]
    pub fn keeping(self, keeps: Keeps) -> Self {
        Self { keeps, ..self }
    }

    /// Strings keep their numbers where entries are taken over.
    pub(super) fn take_names(&self, before: &Config) -> Result<(), Refusal> {
        self.config.index.adopt_names(&before.index)
    }

    pub(super) fn keeps(&self) -> Keeps {
        self.keeps
    }

    pub(super) fn into_parts(self) -> (Forwarding, Box<Pipeline>) {
        let ledger = Ledger::default();
        let learning = Learning::new(&self.pipeline);
        let forwarding =
            Forwarding { config: self.config, binding: self.binding, ledger, learning };
        (forwarding, self.pipeline)
    }
}

impl Forwarding {
    /// A message of the digest with this list; returns the list of messages that is to be sent.
    pub fn handle_digest(&mut self, now: Time, list_id: u32, message: Message) -> Option<List> {
        let digest_id = self.binding.digest_id(list_id)?;
        self.ledger.digests.handle_message(now, digest_id, message)
    }
}

impl Ledger {
    /// The approximate memory of all of it.
    pub fn size_bytes(&self) -> u64 {
        self.beside.size_bytes()
            + self.beside_default.size_bytes()
            + self.groups.size_bytes()
            + self.multicast.size_bytes()
            + self.sessions.size_bytes()
    }

    /// Sets what belongs to an entry, and returns what did before; nothing is kept where there is
    /// nothing.
    pub fn set_beside(&mut self, table: usize, entry: EntryId, beside: Beside) -> Beside {
        if let Some(group) = &beside.one_shot {
            *self.one_shot_counts.entry(group.profile_id).or_default() += 1;
        }
        self.timeout_count += usize::from(beside.idle_timeout_ns > 0);
        let before = if beside == Beside::default() {
            self.beside.remove(&(table, entry))
        } else {
            self.beside.insert((table, entry), beside)
        };
        let before = before.unwrap_or_default();
        if let Some(group) = &before.one_shot
            && let Some(count) = self.one_shot_counts.get_mut(&group.profile_id)
        {
            *count -= 1;
        }
        self.timeout_count -= usize::from(before.idle_timeout_ns > 0);
        before
    }

    /// Whether some entry has an idle timeout.
    pub fn has_timeouts(&self) -> bool {
        self.timeout_count > 0
    }

    /// Whether entries bring groups of their own to this action selector.
    pub fn has_one_shots(&self, profile_id: u32) -> bool {
        self.one_shot_counts.get(&profile_id).is_some_and(|count| *count > 0)
    }
}
