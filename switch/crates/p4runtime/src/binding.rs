//! [`Binding`]: which object of the loaded pipeline each id of P4Info means.
//!
//! The compiler writes the same fully qualified names into P4Info and into BMv2 JSON. They are
//! looked up once, when a program is loaded; P4Info and JSON of different programs are refused
//! then, with the first object that does not fit.

use std::collections::BTreeMap;

use bits::Int;
use pipeline::Pipeline;

use crate::index::{Index, Name, Table};
use crate::refusal::Refusal;
use crate::translate::action::ActionCall;

/// Numbers in the pipeline, by P4Info's ids.
#[derive(Clone, Debug, Default)]
pub struct Binding {
    tables: BTreeMap<u32, TableBinding>,
    /// P4Info's ids of tables by their numbers in the pipeline.
    table_ids: BTreeMap<usize, u32>,
    profiles: Numbers,
    counters: Numbers,
    meters: Numbers,
    registers: Numbers,
    value_sets: Numbers,
    /// P4Info's ids of digests by the ids of their lists in BMv2 JSON.
    digest_ids: BTreeMap<u32, u32>,
}

type Numbers = BTreeMap<u32, usize>;

/// A table in the pipeline.
#[derive(Clone, Debug)]
pub struct TableBinding {
    pub table: usize,
    /// Numbers of its actions by P4Info's ids. The same action may have another number in another
    /// table: compilers repeat actions in BMv2 JSON.
    actions: BTreeMap<u32, usize>,
    /// The other way round.
    action_ids: BTreeMap<usize, u32>,
}

impl Binding {
    /// Looks everything up; INVALID_ARGUMENT if the pipeline is of another program.
    pub fn new(index: &Index, pipeline: &Pipeline) -> Result<Self, Refusal> {
        let mut binding = Self::default();
        for table in index.tables() {
            let bound = TableBinding::new(index, table, pipeline)?;
            binding.table_ids.insert(bound.table, table.name.id);
            binding.tables.insert(table.name.id, bound);
        }
        let names = index.profiles().map(|it| &it.name);
        binding.profiles = numbers("action profile", names, |it| pipeline.profile_index(it))?;
        let names = index.counters().map(|it| &it.name);
        binding.counters = numbers("counter", names, |it| pipeline.counter_index(it))?;
        let names = index.meters().map(|it| &it.name);
        binding.meters = numbers("meter", names, |it| pipeline.meter_index(it))?;
        let names = index.registers().map(|it| &it.name);
        binding.registers = numbers("register", names, |it| pipeline.register_index(it))?;
        let names = index.value_sets().map(|it| &it.name);
        binding.value_sets = numbers("value set", names, |it| pipeline.value_set_index(it))?;
        for digest in index.digests() {
            let list = pipeline.digests().find(|(_, name)| *name == digest.name.name);
            let (list_id, _) = list.ok_or_else(|| missing("digest", &digest.name.name))?;
            binding.digest_ids.insert(list_id, digest.name.id);
        }
        Ok(binding)
    }

    /// A table by P4Info's id.
    pub fn table(&self, id: u32) -> Result<&TableBinding, Refusal> {
        self.tables.get(&id).ok_or_else(|| unbound("table", id))
    }

    /// P4Info's id of a table.
    pub fn table_id(&self, table: usize) -> Option<u32> {
        self.table_ids.get(&table).copied()
    }

    /// The number of an action profile.
    pub fn profile(&self, id: u32) -> Result<usize, Refusal> {
        number(&self.profiles, "action profile", id)
    }

    /// P4Info's id of an action profile.
    pub fn profile_id(&self, profile: usize) -> Option<u32> {
        self.profiles.iter().find(|(_, number)| **number == profile).map(|(id, _)| *id)
    }

    /// The number of a counter array.
    pub fn counter(&self, id: u32) -> Result<usize, Refusal> {
        number(&self.counters, "counter", id)
    }

    /// The number of a meter array.
    pub fn meter(&self, id: u32) -> Result<usize, Refusal> {
        number(&self.meters, "meter", id)
    }

    /// The number of a register array.
    pub fn register(&self, id: u32) -> Result<usize, Refusal> {
        number(&self.registers, "register", id)
    }

    /// The number of a value set.
    pub fn value_set(&self, id: u32) -> Result<usize, Refusal> {
        number(&self.value_sets, "value set", id)
    }

    /// P4Info's id of the digest with this list.
    pub fn digest_id(&self, list_id: u32) -> Option<u32> {
        self.digest_ids.get(&list_id).copied()
    }
}

impl TableBinding {
    fn new(index: &Index, table: &Table, pipeline: &Pipeline) -> Result<Self, Refusal> {
        let name = &table.name.name;
        let number = pipeline.table_index(name).ok_or_else(|| missing("table", name))?;
        let key_count = pipeline.table(number).keys().count();
        let widths = pipeline.table(number).keys().map(|(_, _, width)| width as usize);
        let declared = table.fields.iter().map(|field| field.width_bits);
        if key_count != table.fields.len() || widths.zip(declared).any(|(is, says)| is != says) {
            return Err(Refusal::invalid(format!(
                "the key of table {name} differs between P4Info and p4_device_config; send those \
                 of the same compilation"
            )));
        }
        let mut bound =
            Self { table: number, actions: BTreeMap::new(), action_ids: BTreeMap::new() };
        for reference in &table.actions {
            let action = &index.action(reference.id)?.name.name;
            let found = pipeline.action_index(number, action);
            let found = found.ok_or_else(|| missing(&format!("table {name}: action"), action))?;
            bound.actions.insert(reference.id, found);
            bound.action_ids.insert(found, reference.id);
        }
        Ok(bound)
    }

    /// The number of an action in this table.
    pub fn action(&self, id: u32) -> Result<usize, Refusal> {
        number(&self.actions, "action", id)
    }

    /// The call of an action as controllers write it; `None` for an action that P4Info leaves out.
    pub fn call(&self, action: usize, data: &[Int]) -> Option<ActionCall> {
        let action_id = *self.action_ids.get(&action)?;
        Some(ActionCall { action_id, args: data.to_vec() })
    }
}

fn numbers<'a>(
    word: &str,
    names: impl Iterator<Item = &'a Name>,
    look_up: impl Fn(&str) -> Option<usize>,
) -> Result<Numbers, Refusal> {
    let bind = |name: &Name| {
        let found = look_up(&name.name).ok_or_else(|| missing(word, &name.name))?;
        Ok((name.id, found))
    };
    names.map(bind).collect()
}

fn number(numbers: &Numbers, word: &str, id: u32) -> Result<usize, Refusal> {
    numbers.get(&id).copied().ok_or_else(|| unbound(word, id))
}

fn missing(word: &str, name: &str) -> Refusal {
    Refusal::invalid(format!(
        "{word} {name} is in P4Info but not in p4_device_config; send those of the same compilation"
    ))
}

fn unbound(word: &str, id: u32) -> Refusal {
    Refusal::invalid(format!("the program has no {word} with id {id}"))
}
