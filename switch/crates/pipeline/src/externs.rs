//! All mutable state that actions touch, by index.

use tables::Counter;

use crate::chance::Chance;
use crate::error::LoadError;
use crate::hash::Hash;
use crate::instances::Instance;
use crate::room::Room;
use crate::state::{MeterArray, RegisterArray, load_counters, load_meters, load_registers};
use crate::value_set::ValueSet;

/// Counters, meters, registers, hashes with state, random numbers; and room to work in.
#[derive(Clone, Debug)]
pub(crate) struct Externs {
    pub counters: Vec<Vec<Counter>>,
    pub meters: Vec<MeterArray>,
    pub registers: Vec<RegisterArray>,
    pub hashes: Vec<Hash>,
    pub instances: Vec<Instance>,
    pub value_sets: Vec<ValueSet>,
    pub chance: Chance,
    /// Input of the hash being computed; kept so that it need not be allocated again.
    pub hash_input: Vec<u8>,
    /// A packet's area when an action began, for an observer.
    pub before: Vec<u8>,
}

impl Externs {
    /// A packet comes to the next block: extern instances remember nothing of the last.
    pub fn begin_block(&mut self) {
        self.instances.iter_mut().for_each(Instance::clear);
    }

    /// Counts a packet, if the array has such an index.
    #[inline]
    pub fn count(&mut self, array: u32, index: u64, length_bytes: u32) {
        let counters = &mut self.counters[array as usize];
        if let Some(counter) = usize::try_from(index).ok().and_then(|at| counters.get_mut(at)) {
            counter.count(length_bytes);
        }
    }
}

/// The state of a program before its first packet.
pub(crate) fn load_externs(
    source: &bmv2::Program,
    hashes: Vec<Hash>,
    instances: Vec<Instance>,
    value_sets: Vec<ValueSet>,
    seed: u64,
    room: &mut Room,
) -> Result<Externs, LoadError> {
    Ok(Externs {
        counters: load_counters(source, room)?,
        meters: load_meters(source, room)?,
        registers: load_registers(source, room)?,
        hashes,
        instances,
        value_sets,
        chance: Chance::new(seed),
        hash_input: Vec::new(),
        before: Vec::new(),
    })
}
