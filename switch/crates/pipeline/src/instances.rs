//! Extern instances: the objects of PSA that a program calls through primitives of their own,
//! `_Hash_get_hash` and the like.
//!
//! Counters and meters among them become the arrays that every architecture has, so that controllers
//! reach them in the same way; what is left is state for hashes and checksums.

use bmv2::{
    CalculationInput, CounterArray, ExternAttribute, ExternInstance, FieldRef, MeterArray,
    MeterUnit, Parameter, Program,
};
use wire::Sum;

use crate::calculation::{Recipe, hash_named};
use crate::error::LoadError;
use crate::hash::Hash;
use crate::layout::Layout;

/// An instance, and what it remembers.
#[derive(Clone, Debug)]
pub(crate) enum Instance {
    /// A checksum over all data since it was cleared.
    Checksum {
        hash: Hash,
        data: Vec<u8>,
    },
    Hash(Hash),
    /// The sum of RFC 1071, not yet complemented.
    InternetChecksum {
        sum: u16,
    },
}

/// The sort of an instance: a method belongs to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstanceKind {
    Checksum,
    Hash,
    InternetChecksum,
}

impl InstanceKind {
    /// The kind of this name in PSA; `None` for those that are something else here.
    pub fn named(name: &str) -> Option<InstanceKind> {
        let kinds = [InstanceKind::Checksum, InstanceKind::Hash, InstanceKind::InternetChecksum];
        kinds.into_iter().find(|kind| kind.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            InstanceKind::Checksum => "Checksum",
            InstanceKind::Hash => "Hash",
            InstanceKind::InternetChecksum => "InternetChecksum",
        }
    }
}

/// Which value a method without data gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The checksum.
    Checksum,
    /// The sum until now.
    State,
}

impl Instance {
    /// The instance as BMv2 JSON has it; `None` for those that are something else here.
    fn load(instance: &ExternInstance) -> Result<Option<Instance>, LoadError> {
        let text = |name: &str| match attribute(instance, name) {
            Some(ExternAttribute::String(text)) => Ok(text.as_str()),
            _ => Err(missing(name, "a string")),
        };
        let hash = |name: &str| hash_named(&text(name)?.to_lowercase());
        let Some(kind) = InstanceKind::named(&instance.extern_type) else { return Ok(None) };
        Ok(Some(match kind {
            InstanceKind::Checksum => Instance::Checksum { hash: hash("hash")?, data: Vec::new() },
            InstanceKind::Hash => Instance::Hash(hash("algo")?),
            InstanceKind::InternetChecksum => Instance::InternetChecksum { sum: 0 },
        }))
    }

    pub fn kind(&self) -> InstanceKind {
        match self {
            Instance::Checksum { .. } => InstanceKind::Checksum,
            Instance::Hash(_) => InstanceKind::Hash,
            Instance::InternetChecksum { .. } => InstanceKind::InternetChecksum,
        }
    }

    /// Begins with the next packet's block as if it were cleared.
    pub fn clear(&mut self) {
        match self {
            Instance::Checksum { data, .. } => data.clear(),
            Instance::InternetChecksum { sum } => *sum = 0,
            Instance::Hash(_) => {}
        }
    }

    /// Takes data in, or away, which only sums can. A hash keeps none.
    pub fn take(&mut self, bytes: &[u8], is_added: bool) {
        match self {
            Instance::Checksum { data, .. } => data.extend_from_slice(bytes),
            Instance::Hash(_) => {}
            Instance::InternetChecksum { sum } => {
                let change = !Sum::of(bytes).checksum();
                let change = if is_added { change } else { !change };
                let (total, carry) = sum.overflowing_add(change);
                *sum = total + u16::from(carry);
            }
        }
    }

    /// The value of a method without data.
    pub fn value(&mut self, asked: Asked) -> u64 {
        match (self, asked) {
            (Instance::Checksum { hash, data }, _) => hash.of(data),
            (Instance::InternetChecksum { sum }, Asked::State) => u64::from(*sum),
            (Instance::InternetChecksum { sum }, Asked::Checksum) => u64::from(!*sum),
            (Instance::Hash(_), _) => 0,
        }
    }

    /// The hash of data.
    pub fn hash(&mut self, bytes: &[u8]) -> u64 {
        match self {
            Instance::Hash(hash) => hash.of(bytes),
            Instance::Checksum { .. } | Instance::InternetChecksum { .. } => 0,
        }
    }

    /// Continues from a state that was read before.
    pub fn set_state(&mut self, state: u64) {
        match self {
            Instance::InternetChecksum { sum } => *sum = state as u16,
            Instance::Checksum { .. } | Instance::Hash(_) => {}
        }
    }
}

/// The instances that have state here, and their names.
pub(crate) fn load_instances(source: &Program) -> Result<Vec<(String, Instance)>, LoadError> {
    let mut loaded = Vec::new();
    for (index, instance) in source.extern_instances.iter().enumerate() {
        let found = Instance::load(instance);
        let found = found.map_err(|error| error.under(&format!("/extern_instances/{index}")))?;
        loaded.extend(found.map(|found| (instance.name.clone(), found)));
    }
    Ok(loaded)
}

/// The program with counters and meters among its extern instances as arrays.
pub(crate) fn with_arrays(source: &Program) -> Result<Program, LoadError> {
    let mut program = source.clone();
    for (index, instance) in source.extern_instances.iter().enumerate() {
        let under = |error: LoadError| error.under(&format!("/extern_instances/{index}"));
        let is_direct = number(instance, "is_direct").unwrap_or(0) != 0;
        let (name, source_info) = (instance.name.clone(), instance.source_info.clone());
        match instance.extern_type.as_str() {
            "Counter" if !is_direct && !has_counters(source, &name) => {
                program.counter_arrays.push(CounterArray {
                    name,
                    id: program.counter_arrays.len() as u32,
                    source_info,
                    size: Some(number(instance, "n_counters").map_err(under)? as u32),
                    is_direct: false,
                    binding: None,
                })
            }
            "Meter" if !is_direct && !has_meters(source, &name) => {
                program.meter_arrays.push(MeterArray {
                    name,
                    id: program.meter_arrays.len() as u32,
                    source_info,
                    size: number(instance, "n_meters").map_err(under)? as u32,
                    rate_count: 2,
                    unit: match attribute(instance, "type") {
                        Some(ExternAttribute::String(unit)) if unit == "bytes" => MeterUnit::Bytes,
                        _ => MeterUnit::Packets,
                    },
                    ..MeterArray::default()
                })
            }
            _ => {}
        }
    }
    Ok(program)
}

/// p4c writes counters in both forms.
fn has_counters(source: &Program, name: &str) -> bool {
    source.counter_arrays.iter().any(|array| array.name == name)
}

fn has_meters(source: &Program, name: &str) -> bool {
    source.meter_arrays.iter().any(|array| array.name == name)
}

fn attribute<'a>(instance: &'a ExternInstance, name: &str) -> Option<&'a ExternAttribute> {
    instance.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

fn number(instance: &ExternInstance, name: &str) -> Result<u64, LoadError> {
    match attribute(instance, name) {
        Some(ExternAttribute::Hex(number)) => Ok(number.low_u64()),
        _ => Err(missing(name, "a number")),
    }
}

fn missing(name: &str, what: &str) -> LoadError {
    LoadError::new("/attribute_values", format!("the attribute \"{name}\" must be {what}"))
}

/// The bytes of a list of fields; what lacks to whole words of `word_bits` stands as zeros in front.
pub(crate) fn recipe(
    layout: &Layout,
    parameter: &Parameter,
    word_bits: u32,
) -> Result<Recipe, LoadError> {
    let Parameter::FieldList(fields) = parameter else {
        return Err(LoadError::new("", "expected a list of fields"));
    };
    let mut inputs = Vec::new();
    let mut width_bits = 0;
    for field in fields {
        width_bits += width_of(layout, field)?;
        inputs.push(CalculationInput::Field(field.clone()));
    }
    let missing = width_bits.next_multiple_of(word_bits) - width_bits;
    if missing > 0 {
        let padding = CalculationInput::Constant { value: Default::default(), width_bits: missing };
        inputs.insert(0, padding);
    }
    Recipe::new(layout, &inputs)
}

fn width_of(layout: &Layout, field: &FieldRef) -> Result<u32, LoadError> {
    Ok(layout.field(field)?.place.width())
}
