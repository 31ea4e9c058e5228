//! All mutable state that actions touch, by index.

use crate::chance::Chance;
use crate::hash::Hash;
use crate::parser::ValueSet;
use crate::state::{Counter, MeterArray, RegisterArray};

/// Counters, meters, registers, hashes with state, random numbers; and room to work in.
#[derive(Clone, Debug)]
pub(crate) struct Externs {
    pub counters: Vec<Vec<Counter>>,
    pub meters: Vec<MeterArray>,
    pub registers: Vec<RegisterArray>,
    pub hashes: Vec<Hash>,
    pub value_sets: Vec<ValueSet>,
    pub chance: Chance,
    /// Input of the hash being computed; kept so that it need not be allocated again.
    pub hash_input: Vec<u8>,
    /// What a packet's area was when an action began, while somebody watches.
    pub before: Vec<u8>,
}
